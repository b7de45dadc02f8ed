#!/usr/bin/env bash
# The ten things that users do first, done as a user does them: with the installed wheel, far from the checkout, in an
# empty folder whose name has a blank, with relative paths and an empty home. Results are looked at, not only exit status.
#
#   PYTHON=.venv/bin/python tools/acceptance.sh [WHEEL]
#
# Without a wheel, one is built. Other packages are those of PYTHON. Commands of the README are read from it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$(realpath --no-symlinks "$(command -v "${PYTHON:-python}")")
unset PYTHONPATH
# What a step prints goes to its log; why it failed, where errors go.
exec 3>&2
work=$(mktemp -d)
venv=$work/venv
trap 'rm -rf "$work"' EXIT
began=$EPOCHREALTIME

seconds_since() { awk -v now="$EPOCHREALTIME" -v then="$1" 'BEGIN { printf "%.1f", now - then }'; }

# Run functions one after the other, each after the words that say what it is about; print these, and how long it took.
steps() {
  local start
  log=$(mktemp "$work/log.XXXXXX")
  trap '(($? == 0)) || { echo "Failed: $title"; tail -n 40 "$log"; } >&3' EXIT
  while (($#)); do
    title=$1
    start=$EPOCHREALTIME
    "$2" >"$log" 2>&1
    printf '%-56s %5s s\n' "$title" "$(seconds_since "$start")"
    shift 2
  done
}

# Nothing of the caller's environment is there: no PYTHONPATH, no cache, no settings.
user() { env -i HOME="$work/home" PATH="$venv/bin:/usr/bin:/bin" LANG=C.UTF-8 "$@"; }

# ------------------------------------------------------------------------------------------------------ installation
install_wheel() {
  local wheel=${1:-}
  if [[ -z $wheel ]]; then
    "$python" -m build --wheel --outdir "$work/dist" "$root"
    wheel=$(echo "$work"/dist/*.whl)
  fi
  "$python" -m venv --without-pip "$venv"
  "$python" -m pip --python "$venv/bin/python" install --quiet --no-deps --no-index "$wheel"
  # Behind what the wheel installed, and without the .pth files in there: the checkout stays out.
  "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sep="\n")' |
    uniq >"$(echo "$venv"/lib/python*/site-packages)/packages_of_the_caller.pth"
}

# The files of the wheel are those that git knows, and the packages are imported from where it was installed.
check_installation() {
  local site
  site=$(echo "$venv"/lib/python*/site-packages)
  diff <(git -C "$root" ls-files metrics estimators mlstream | LC_ALL=C sort) \
    <(cd "$site" && find metrics estimators mlstream -type f -not -path '*/__pycache__/*' | LC_ALL=C sort)
  user python - "$site" "$root" <<'PYTHON'
import importlib.metadata, sys
import estimators, metrics, mlstream

site, root = sys.argv[1:]
for package in (metrics, estimators, mlstream):
    assert package.__file__.startswith(f"{site}/"), f"{package.__file__} is not in {site}"
assert root not in sys.path, sys.path
assert importlib.metadata.version("mlstream-toolkit") == mlstream.__version__
PYTHON
  user mlstream --version | grep --extended-regexp '^mlstream [0-9.]+'
}

# ------------------------------------------------------------------------------------------------------ the ten things
# 1. The console blocks of the README, beside the files that blocks of Python, which begin with their names, become.
readme_at_the_shell() {
  awk '/^```/ { file = "" } previous == "```python" && /^# [a-z_]+\.py$/ { file = $2 } file { print >file } { previous = $0 }' \
    "$root/README.md"
  sed -n 's/^\$ \(mlstream .*\)$/\1/p' "$root/README.md" >readme.sh
  (($(wc -l <readme.sh) >= 7))
  user bash -ex readme.sh
  grep --quiet 'yeast-stream is complete and unchanged' "$log"
  # The same bytes.
  cmp again.npz yeast.npz
  cmp again.npz yeast-stream/stream.npz
  # Scores that are made of the matrix R, with their deviations; whoever always predicts the same is right in half of
  # the cases, before and after each task, and has none.
  (($(grep --extended-regexp --count '^ yeast-tasks +(NN|NN_TL) +defaults +2 .* 0\.[0-9]{3} ± 0\.' "$log") == 2))
  grep --quiet --extended-regexp '^ yeast-tasks +mean +defaults +2 +0\.[0-9]{3} ± [^ ]+ +0\.500 +0\.000 +0\.000 ' "$log"
  grep --quiet 'Backward transfer\|BWT' runs/report.html
  # The learner of the README is on the page of the arena.
  grep --quiet MyLearner arena-page/index.html
}

# 2. The block of Python in the README prints what the README shows.
readme_in_python() {
  sed -n '/^```python$/,/^```$/{/^```/d;p}' "$root/README.md" >readme.py
  sed -n '/^```text$/,/^```$/{/^```/d;p}' "$root/README.md" >shown
  user python readme.py >printed
  diff shown printed
}

# 3. A table of one's own: labels follow from the weather of 900 days.
own_table() {
  LC_ALL=C awk 'BEGIN {
    print "temperature,humidity,wind,rain,storm,fog,frost"
    for (day = 0; day < 900; day++) {
      t = sin(day * 0.7) + sin(day * 2.3); h = sin(day * 1.9 + 1); w = cos(day * 3.1)
      printf("%.3f,%.3f,%.3f,%d,%d,%d,%d\n", t, h, w, h > 0.2, h > 0.2 && w > 0.4, h > 0.1 && w < 0, t < -0.5)
    }
  }' >weather.csv
  user mlstream generate weather.csv --labels rain,storm,fog,frost --tasks 3 --output weather.npz
  user mlstream inspect weather.npz
  grep --quiet '3 tasks' "$log"
}

# 4. Share it, and make it again.
publish() {
  user mlstream publish weather.npz weather --title Weather --licence CC-BY-4.0 --creator "Ada Lovelace"
  user mlstream verify weather
  grep --quiet 'weather is complete and unchanged' "$log"
  user mlstream regenerate weather --table weather.csv --output weather-again.npz
  cmp weather-again.npz weather/stream.npz
}

# 5. Compare learners on it.
report() {
  user mlstream run weather --strategies StreamRidge,mean --output results
  (($(grep --count ' done  *0\.[0-9]' "$log") == 2))
  user mlstream report results
  grep --quiet StreamRidge results/report.html
}

# 6. The challenge of the README, in a folder that is given relatively.
play_challenge() {
  local words
  read -ra words < <(grep --only-matching '`mlstream challenge demo [^`]*`' "$root/README.md" | tr -d '`')
  user "${words[@]}"
  test -s played/leaderboard.html
  grep --quiet 'The page: open played/leaderboard.html' "$log"
}

# 7. One metric, by hand: recalls of 1/2 and 1, then 1 and 2/3.
metric() {
  user python - <<'PYTHON'
from metrics import ba_macro

score = ba_macro([[1, 1], [1, 0], [0, 0], [0, 0]], [[1, 1], [0, 1], [0, 0], [0, 0]])
assert abs(score - (3 / 4 + 5 / 6) / 2) < 1e-12, score
PYTHON
}

# 8. A pipeline with a step of scikit-learn.
pipeline() {
  user python - <<'PYTHON'
from sklearn.preprocessing import StandardScaler
from estimators import StreamPipeline, StreamRidgeClassifier
from mlstream import load_dataset

table = load_dataset("weather.csv", labels=["rain", "storm", "fog", "frost"])
learner = StreamPipeline([("scale", StandardScaler()), ("learn", StreamRidgeClassifier())])
predicted = learner.partial_fit(table.X, table.Y).predict(table.X)
assert predicted.shape == (900, 4), predicted.shape
assert (predicted == table.Y).mean() > 0.8, (predicted == table.Y).mean()
PYTHON
}

# 9. A model of River.
river_model() {
  user python - <<'PYTHON'
from river import linear_model
from mlstream import evaluate, load

result = evaluate(linear_model.LogisticRegression(), load("weather.npz"))
assert 0.6 < result.scores["ba_macro"] <= 1, result.scores
assert -1 <= result.scores["bwt"] <= 1, result.scores
PYTHON
}

# 10. A mistake ends in one line that says what to do.
mistake() {
  local status=0
  user mlstream generate weather.csv --labels rain,snow --output wrong.npz 2>errors || status=$?
  ((status == 1))
  (($(wc -l <errors) == 1))
  grep '^Error: .*snow' errors
  test ! -e wrong.npz
}

wheel=${1:+$(realpath "$1")}
install() {
  install_wheel "$wheel"
  check_installation
}
mkdir "$work/home" "$work/first steps"
cd "$work/first steps"
(steps "install the wheel; its files are those of git" install)
# Two at a time, as long as each other.
steps \
  "README at the shell: same bytes, scores of R, a report" readme_at_the_shell \
  "README in Python prints what it shows" readme_in_python &
of_the_readme=$!
steps \
  "a stream of a CSV file" own_table \
  "publish it, verify it, make the same bytes again" publish \
  "compare two learners on it, and report" report \
  "a metric, as computed by hand" metric \
  "a pipeline" pipeline \
  "a model of River" river_model \
  "a mistake: one line, and status 1" mistake \
  "the challenge of the README, in a relative folder" play_challenge &
of_ones_own=$!
status=0
wait "$of_the_readme" || status=$?
wait "$of_ones_own" || status=$?
((status == 0))
# Where others use the machine, seconds of the processor say more.
times >"$work/times"
printf 'Accepted in %s s; of the processor, ' "$(seconds_since "$began")"
tr 'ms' '  ' <"$work/times" | awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%.1f s.\n", sum }'
