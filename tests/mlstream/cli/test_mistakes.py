"""Mistakes typed at the shell: each ends in one line that helps, with a status that is not 0, and writes nothing."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from mlstream import save
from tests.loops import check_all
from tests.mlstream.cli.commands import write_table
from tests.mlstream.cli.test_messages import error_of
from tests.mlstream.evaluation.streams import make_stream

BYTES = bytes(range(256)) * 20
TOML = 'streams = ["s.npz"]\nstrategies = ["mean"]\ndirectory = "out"\n'
DETECT = 'kind = "detect"\nstreams = ["s.npz"]\ndetectors = ["ADWIN"]\nlearners = ["mean"]\ndirectory = "out"\n'
FILES = {
    "numbers.csv": "k,l,x\n1,0,0.5\n0,1,0.25\n1,1,0.125\n",
    "twice.csv": "k,k,x\n1,0,0.5\n0,1,0.25\n",
    "ragged.csv": "k,l,x\n1,0\n0,1,0.25\n",
    "words.csv": "k,l,x\n1,0,red\n0,1,blue\n",
    "twos.csv": "k,l,x\n2,0,1\n0,1,2\n1,1,2\n",
    "halves.csv": "k,l,x\n0.5,0,1\n0,1,2\n1,1,2\n",
    "header.csv": "k,l,x\n",
    "gaps.csv": "k,l,x\n1,0,\n0,1,2\n1,1,3\n",
    "empty.csv": "",
    "empty.arff": "",
    "empty.npz": "",
    "empty.parquet": "",
    "header.arff": "@relation x\n@attribute a numeric\n",
    "labels.xml": "<labels><label name='zzz'/></labels>",
    "broken.xml": "<labels><label",
    "broken.json": "{",
    "three.json": "3",
    "folder/note.txt": "mine",
    "damaged/runs/s/mean-seed0.json": "{",
    "empty.toml": "",
    "syntax.toml": "streams = [\n",
    "key.toml": f"{TOML}sedes = [0]\n",
    "cap.toml": f'{TOML}time_cap_s = "3"\n',
    "cap_true.toml": f"{TOML}time_cap_s = true\n",
    "cap_negative.toml": f"{TOML}time_cap_s = -1\n",
    "window.toml": f'{TOML}window = "10"\n',
    "window_half.toml": f"{TOML}window = 1.5\n",
    "references.toml": f'{TOML}references = "yes"\n',
    "references_one.toml": f"{TOML}references = 1\n",
    "seeds.toml": f'{TOML}seeds = "0"\n',
    "seeds_half.toml": f"{TOML}seeds = [0.5]\n",
    "seeds_twice.toml": f"{TOML}seeds = [1, 1]\n",
    "metrics.toml": f'{TOML}metrics = "lrap"\n',
    "space.toml": f'{TOML}label_space = "tasks"\n',
    "jobs.toml": f"{TOML}n_jobs = 0\n",
    "directory.toml": TOML.replace('"out"', "3"),
    "file.toml": TOML.replace('"out"', '"toy.arff"'),
    "nowhere.toml": TOML.replace('directory = "out"\n', ""),
    "one_stream.toml": TOML.replace('["s.npz"]', '"s.npz"'),
    "no_streams.toml": TOML.replace('streams = ["s.npz"]\n', ""),
    "no_stream.toml": TOML.replace('"s.npz"', ""),
    "missing.toml": TOML.replace("s.npz", "nope.npz"),
    "unknown.toml": TOML.replace('"mean"', '"maen"'),
    "class.toml": 'streams = ["s.npz"]\ndirectory = "out"\n[strategies.mine]\nclass = "nowhere:Nothing"\n',
    "kind.toml": f'kind = "detekt"\n{TOML}',
    "detect_key.toml": f"{DETECT}max_dely = 3\n",
    "detect_strategies.toml": f'{DETECT}strategies = ["NN"]\n',
    "detect_delay.toml": f"{DETECT}max_delay = 0\n",
    "detect_errors.toml": f'{DETECT}errors = "cells"\n',
    "detect_name.toml": DETECT.replace("ADWIN", "ADWN"),
    "detect_eddm.toml": DETECT.replace("ADWIN", "EDDM") + 'errors = "hamming"\n',
    "detect_none.toml": DETECT.replace('"ADWIN"', ""),
    "detect_nowhere.toml": DETECT.replace('directory = "out"\n', ""),
    "detect_table.toml": DETECT.replace('detectors = ["ADWIN"]\n', "") + "[detectors.ADWIN]\ndelta = 0.1\n",
    "detect_grid.toml": DETECT.replace('learners = ["mean"]\n', "") + "[learners.NN]\ngrid = { learning_rate = [1] }\n",
    "detect.toml": DETECT,
    "detections/detections/s/mean/ADWIN-seed0.json": "{",
    "parameter.toml": 'streams = ["s.npz"]\ndirectory = "out"\n[strategies.NN]\nparameters = { rate = 1 }\n',
}

# Mistakes of meaning, which end with the status 1: what is typed, and words of the error.
MEANT = {
    # names and files that are not there, or of another kind
    "generate yeats -o x.npz": "did you mean 'yeast'?",
    "generate absent.csv -o x.npz": "must be a file, or the name of a data set, as `mlstream datasets` lists them.",
    "generate tooy.arff -o x.npz": "did you mean 'toy.arff'?",
    "generate folder -o x.npz": "folder must be a file, or the name of a data set. Got a folder instead.",
    "generate s.npz -o x.npz": "s.npz must be a table: ARFF, CSV, KEEL, Parquet or LIBSVM. Got a stream (NPZ)",
    "generate sheet.xlsx -o x.npz": "Got a spreadsheet; save it as CSV first.",
    "generate empty.csv -o x.npz": "empty.csv, line 1: a CSV file must start with the names of its columns",
    "generate empty.arff -o x.npz": "empty.arff must be an ARFF file, with @data after its header. Got an empty file.",
    "generate header.arff -o x.npz": "header.arff must be an ARFF file, with @data after its header.",
    "generate bytes.arff -o x.npz": "bytes.arff, line 1: a line of an ARFF header must start with @relation",
    "generate bytes.csv -o x.npz": "bytes.csv",
    "generate bytes.arff.gz -o x.npz": "bytes.arff.gz must be a complete .gz file.",
    "suggest-tasks yeats": "did you mean 'yeast'?",
    "suggest-tasks toy.arff --picture x.bmp": "--picture must end in .png, .svg, .pdf. Got 'x.bmp'",
    "suggest-tasks toy.arff --picture nowhere/x.png": "nowhere must be a folder that exists, to write x.png in it.",
    "windowed nope.csv --time t --label l --every 5min -o x.csv": "nope.csv must be a file that exists.",
    "windowed s.npz --time t --label l --every 5min -o x.csv": "s.npz must end in .csv, .tsv, .jsonl",
    "inspect nope.npz": "A stream must be a file, a published folder, or one of yeast-tasks",
    "inspect yeast": "Got 'yeast' instead, a data set; `mlstream generate yeast -o yeast.npz` makes a stream of it.",
    "inspect yeast-taks": "did you mean 'yeast-tasks'?",
    "inspect toy.arff": "`mlstream generate toy.arff -o toy.npz` makes a stream of a table.",
    "inspect folder": "folder must hold a stream, such as stream.npz of a published folder. Got a folder without one.",
    "inspect empty.npz": "empty.npz must be an NPZ file.",
    "inspect bytes.npz": "bytes.npz must be an NPZ file.",
    "inspect cut.npz": "cut.npz must be an NPZ file.",
    "inspect other.npz": "other.npz must hold a stream in format version 1.",
    "inspect sheet.xlsx": ".train.csv, .train.csv.gz or .train.parquet. Got 'sheet.xlsx'.",
    "inspect s.npz --pictures toy.arff": "--pictures must be a folder, or a name for a new one. Got toy.arff",
    "convert toy.arff x.npz": "`mlstream generate toy.arff -o toy.npz` makes a stream of a table.",
    "publish toy.arff new": "`mlstream generate toy.arff -o toy.npz` makes a stream of a table.",
    "perturb noisy-labels toy.arff --rate 0.1 -o x.npz": "`mlstream generate toy.arff -o toy.npz` makes a stream",
    "run yeast -o out": "`mlstream generate yeast -o yeast.npz` makes a stream of it.",
    "run toy.arff -o out": "`mlstream generate toy.arff -o toy.npz` makes a stream of a table.",
    "run nope.toml": "nope.toml: No such file or directory",
    "verify nope": "nope must be a published folder.",
    "verify folder": "folder must be as it was published. Got: SHA256SUMS is missing.",
    "upload folder me/mine": "folder must be as it was published. Got: SHA256SUMS is missing.",
    "regenerate nope.json -o x.npz": "nope.json: No such file or directory",
    "regenerate three.json -o x.npz": "three.json must hold a StreamCard of this version",
    "cards toy.arff": "FOLDER must be a folder, or a name for a new one. Got toy.arff",
    "datasets fetch yeats --offline": "did you mean 'yeast'?",
    "strategies NN_TLHH": "did you mean 'NN_TLH'?",
    "report nope": "nope must hold records of runs (runs/STREAM/STRATEGY-seedN.json), as",
    "report folder": "STRATEGY-seedN.json), as `mlstream run` writes them. Got none.",
    "report toy.arff": "Got a file.",
    "report damaged": "damaged/runs/s/mean-seed0.json must hold a RunResult of this version (remove the file",
    "track folder --to http://127.0.0.1:9": "folder must hold records of runs",
    # what is to be written
    "generate toy.arff -o x.txt": ".train.csv, .train.csv.gz or .train.parquet. Got 'x.txt'.",
    "generate toy.arff -o folder": ".train.csv, .train.csv.gz or .train.parquet. Got 'folder'.",
    "generate toy.arff -o nowhere/x.npz": "nowhere must be a folder that exists, to write x.npz in it.",
    "generate toy.arff -o toy.arff/x.npz": "toy.arff must be a folder that exists, to write x.npz in it.",
    "generate toy.arff -o s.npz": "s.npz must not exist yet: --force replaces it.",
    "generate toy.arff -o toy.arff --force": "--output must not be the source. Got toy.arff twice.",
    "perturb noisy-labels s.npz --rate 0.1 -o s.npz --force": "--output must not be the source. Got s.npz twice.",
    "convert s.npz x.xyz": ".train.csv, .train.csv.gz or .train.parquet. Got 'x.xyz'.",
    "windowed numbers.csv --time k --label l --every 5min -o x.npz": "--output must end in .arff, .arff.gz, .csv",
    "synthesise events -o x.txt": "x.txt must end in .csv, .tsv, .jsonl, .ndjson, .json.",
    "publish s.npz folder": "folder must not exist yet: --force replaces a published folder.",
    "publish s.npz folder --force": "must be a published folder to be replaced, and hold nothing else. Got 'note.txt'",
    "publish s.npz nowhere/new": "nowhere must be a folder that exists, to write new in it.",
    "demo -o folder": "folder must not exist yet: name another folder with --output.",
    "run s.npz": "--output must name the folder of the records.",
    "run s.npz -o toy.arff": "--output must be a folder, or a name for a new one. Got toy.arff",
    "run s.npz -o toy.arff/out": "--output must be a folder, or a name for a new one. Got toy.arff/out",
    # labels
    "generate numbers.csv -o x.npz": "labels must be given as a number of columns, names, or a MULAN .xml file.",
    "generate toy.arff --labels 0 -o x.npz": "the number of labels must be between 1 and 5. Got 0.",
    "generate toy.arff --labels 6 -o x.npz": "the number of labels must be between 1 and 5. Got 6.",
    "generate toy.arff --labels k,zzz -o x.npz": "labels must be columns, each named once. Got 'zzz'",
    "generate toy.arff --labels k,k -o x.npz": "labels must be columns, each named once. Got a name twice.",
    "generate toy.arff --labels x -o x.npz": "label 'x' must be 0 or 1. Got 2; present=",
    "generate toy.arff --labels nope.xml -o x.npz": "nope.xml: No such file or directory",
    "generate toy.arff --labels labels.xml -o x.npz": "labels.xml must name columns of toy.arff. Got 'zzz'",
    "generate toy.arff --labels broken.xml -o x.npz": "broken.xml must be a MULAN label file (XML).",
    # values of a table
    "generate twice.csv --labels 2 -o x.npz": "the names of its columns, all different. Got 'k' twice",
    "generate ragged.csv --labels 2 -o x.npz": "ragged.csv, line 2: a row must hold 3 values. Got 2.",
    "generate words.csv --labels 2 -o x.npz": "words.csv, line 2: column 'x' must be a finite number",
    "generate twos.csv --labels 2 -o x.npz": "twos.csv, line 2: label 'k' must be 0 or 1. Got 2; present=",
    "generate halves.csv --labels 2 -o x.npz": "halves.csv, line 2: label 'k' must be 0 or 1. Got 0.5; present=",
    "generate header.csv --labels 2 -o x.npz": "header.csv must hold at least one row. Got a header only.",
    "generate gaps.csv --labels 2 -o x.npz": "gaps.csv, line 2: column 'x' must have a value in every row",
    "generate one.arff -o x.npz": "must hold a feature that varies. Got 2 constant columns.",
    # options of generators
    "generate toy.arff -o x.npz --tasks 0": "--tasks must be a whole number, at least 1. Got 0",
    "generate toy.arff -o x.npz --tasks 1000": "--tasks must be at most the number of distinct label sets.",
    "generate toy.arff -o x.npz --order backwards": "--order must be one of random, similarity, dissimilarity, "
    "interleaved, or the task of each visit, such as 1,0,1,0. Got 'backwards'",
    "generate toy.arff -o x.npz --order 1,two": "the task of each visit, such as 1,0,1,0. Got '1,two'",
    "generate toy.arff -o x.npz --order 0,9": "--order must name tasks from 0 to",
    "generate toy.arff -o x.npz --evaluation 1.5": "--evaluation must be more than 0 and less than 1. Got 1.5",
    "generate toy.arff -o x.npz --evaluation -0.1": "--evaluation must be more than 0 and less than 1. Got -0.1",
    "generate toy.arff -o x.npz --visits 0": "each of --visits must be positive. Got (0.0,) instead.",
    "generate toy.arff -o x.npz --visits 0.9,0.9": "--visits and --evaluation must add up to at most 1. Got (0.9",
    "generate toy.arff -o x.npz --visits a": "--visits must be a number of visits, or shares split by commas. Got 'a'",
    "generate toy.arff -o x.npz --window -1": "--window must be a whole number, at least 0. Got -1",
    "generate toy.arff -o x.npz --starts 0": "--starts must be a whole number, at least 1. Got 0",
    "suggest-tasks toy.arff --max-tasks 0": "--max-tasks must be a whole number, at least 2. Got 0",
    "scenario toy.arff class-incremental -o x.npz --evaluation 0": "--evaluation must be more than 0 and less than 1.",
    "scenario toy.arff class-incrmental -o x.npz": "SCENARIO must be one of 'instance-incremental'",
    "scenario class-incremental toy.arff -o x.npz": "class-incremental must be a file, or the name of a data set",
    "scenario toy.arff domain-incremental --by column -o x.npz": "--column must be a feature of toy that varies.",
    "iirc toy.arff -o x.npz --hierarchy broken.json": "broken.json must be a JSON file.",
    "iirc toy.arff -o x.npz --hierarchy three.json": "three.json must hold a JSON object of names, child to parent.",
    "iirc toy.arff -o x.npz --hierarchy guess": "--hierarchy must be one of 'names', 'discover'. Got 'guess'",
    "iirc toy.arff -o x.npz --introductions guess": "--introductions must be one of 'iirc-cifar100'",
    "carve toy.arff -o x.npz --roles train,tset": "--roles must be of train, validation, test, unseen. Got 'tset'",
    "windowed numbers.csv --time t --label l --every 5min -o x.csv": "--time must name a column of numbers.csv.",
    "windowed numbers.csv --time k --label l --every fast -o x.csv": "--every must be a whole number, at least 1, and",
    "synthesise tree -o x.npz --rows 0": "--rows must be a whole number, at least 1. Got 0",
    "synthesise tree -o x.npz --rows 999999999999": "must fit into the memory of this machine",
    "synthesise tree -o x.npz --noise 2": "--noise must lie in (0, 1]. Got 2.0",
    "synthesise tree -o x.npz --magnitude 5": "--magnitude must lie in [0, 1]. Got 5.0",
    "synthesise stand-in -o x.npz --shape bibtex": "--shape must be one of mediamill. Got 'bibtex'",
    "synthesise environments -o x.npz --correlation 0.5": "--correlation must be two numbers, the ends of a range.",
    "synthesise environments -o x.npz --correlations a,b": "--correlations must be numbers split by commas.",
    "synthesise hat-and-shirt -o x.npz --copies 0": "--copies must be a whole number, at least 1. Got 0",
    "synthesise events -o x.csv --threats 9": "--threats must be a whole number, at most 6. Got 9",
    "perturb noisy-labels s.npz --rate 2 -o x.npz": "--rate must lie in [0, 1]. Got 2.0",
    "perturb delayed-labels s.npz --delay soon -o x.npz": "--delay must be a whole number, at least 1, and a unit",
    "perturb rare-labels s.npz --keep zzz=0.5 -o x.npz": "--keep must name labels of the stream. Got 'zzz'",
    # options of runs
    "run s.npz -o out -s maen": "did you mean 'mean'?",
    "run s.npz -o out -s ''": "A strategy must be one of NN",
    "run s.npz -o out -s 'NN_TL(learning_rat=1)'": "Got 'learning_rat' instead; did you mean 'learning_rate'?",
    "run s.npz -o out -s 'NN_TL(0.1)'": "--strategies must be names, or NAME(parameter=value, ...). Got 'NN_TL(0.1)'",
    "run s.npz -o out -s mean --seeds a,b": "--seeds must be whole numbers split by commas. Got 'a,b'",
    "run s.npz -o out -s mean --seeds -1": "each of --seeds must be a whole number from 0 to 2**32 - 1. Got -1",
    "run s.npz -o out -s mean --seeds 0,0": "--seeds must hold each number once. Got [0, 0]",
    "run s.npz -o out -s mean --jobs 0": "--jobs must be a number of processes, or -1 for as many as cores. Got 0",
    "run s.npz -o out -s mean --time-cap nan": "--time-cap must be a positive number, or inf for no cap. Got nan",
    "run s.npz -o out -s mean --cpu-power 0": "--cpu-power must be a positive number. Got 0.0",
    "run s.npz -o out -s mean --checkpoints 0": "--checkpoints must be a whole number, at least 1. Got 0",
    "run s.npz -o out -s mean --window 0": "--window must be a whole number, at least 1. Got 0",
    "run s.npz -o out -s mean --metrics lrpa": "did you mean 'lrap'?",
    "run s.npz -o out -s mean --splits x": "--splits must be whole numbers split by commas. Got 'x'",
    "run s.npz -o out -s mean --dask nowhere": "--dask must be an address such as tcp://127.0.0.1:8786. Got 'nowhere'",
    # options of detections
    "detect yeast -o out": "`mlstream generate yeast -o yeast.npz` makes a stream of it.",
    "detect nope.npz -o out": "A stream must be a file, a published folder, or one of yeast-tasks",
    "detect s.npz -o toy.arff": "--output must be a folder, or a name for a new one. Got toy.arff",
    "detect s.npz -o out -d ADWN": "Got 'ADWN' instead; did you mean 'ADWIN'?",
    "detect s.npz -o out -d 'ADWIN(0.1)'": "--detector must be names, or NAME(parameter=value, ...). Got 'ADWIN(0.1)'",
    "detect s.npz -o out -d 'ADWIN(delat=1)'": "ADWIN must have parameters among delta. Got 'delat' instead.",
    "detect s.npz -o out -d 'ADWIN(delta=7)'": "delta must be a finite number above 0 and below 1. Got 7 instead.",
    "detect s.npz -o out -d \"LabelDrift(detector='DDM')\"": "correction must be None for DDM, which has no confidence",
    "detect s.npz -o out -d EDDM --errors hamming": "errors (--errors) must be 'subset' for EDDM, which takes 0 and 1",
    "detect s.npz -o out --learner maen": "did you mean 'mean'?",
    "detect s.npz -o out --learner 'NN(1)'": "--learner must be names, or NAME(parameter=value, ...). Got 'NN(1)'",
    "detect s.npz -o out --max-delay 0": "--max-delay must be a whole number, at least 1. Got 0",
    "detect s.npz -o out --max-early -1": "--max-early must be a whole number, at least 0. Got -1",
    "detect s.npz -o out --seeds 0,0": "--seeds must hold each number once. Got [0, 0]",
    "detect s.npz s.npz -o out -d DDM": "Streams of a campaign must differ.",
    "report detections": "detections/detections/s/mean/ADWIN-seed0.json must hold a Detection of this version (remove",
    "run kind.toml": "kind.toml: kind must be 'evaluate' or 'detect'. Got 'detekt' instead.",
    "run detect_key.toml": "Got 'max_dely' instead; did you mean 'max_delay'?",
    "run detect_strategies.toml": "max_early, label_space, seeds, n_jobs. Got 'strategies' instead",
    "run detect_delay.toml": "detect_delay.toml: max_delay must be a whole number, at least 1. Got 0 instead.",
    "run detect_errors.toml": "detect_errors.toml: errors must be 'subset' or 'hamming'. Got 'cells' instead.",
    "run detect_name.toml": "detect_name.toml: The name of a detector must be one of ADWIN, DDM",
    "run detect_eddm.toml": "errors (--errors) must be 'subset' for EDDM, which takes 0 and 1 only.",
    "run detect_none.toml": "detect_none.toml: detectors must have at least 1 entry.",
    "run detect_nowhere.toml": "detect_nowhere.toml must name the directory of the records, or --output must.",
    "run detect_table.toml": "every key must be one of detector, parameters. Got 'detectors.ADWIN.delta' instead",
    "run detect_grid.toml": "every key must be one of strategy, class, parameters. Got 'learners.NN.grid' instead",
    "run detect.toml --decision half": "is of the kind 'detect': only --output, --jobs, --quiet, --trust and --json",
    # campaign files
    "run s.npz key.toml -o out": "A campaign file must be the only source. Got key.toml among 2 sources.",
    "run key.toml -s mean": "only --output, --jobs, --dask, --decision, --quiet, --times, --trust and --json may",
    "run key.toml": "Got 'sedes' instead; did you mean 'seeds'?",
    "run empty.toml": "empty.toml: streams must be given.",
    "run bytes.toml": "bytes.toml must be TOML.",
    "run syntax.toml": "syntax.toml must be TOML.",
    "run cap.toml": "cap.toml: time_cap_s must be a number. Got '3' (text) instead.",
    "run cap_true.toml": "cap_true.toml: time_cap_s must be a number. Got True (true or false) instead.",
    "run cap_negative.toml": "cap_negative.toml: time_cap_s must be a positive number, or inf for no cap. Got -1.0",
    "run window.toml": "window.toml: window must be a whole number. Got '10' (text) instead.",
    "run window_half.toml": "window_half.toml: window must be a whole number. Got 1.5 (a number) instead.",
    "run references.toml": "references.toml: references must be true or false. Got 'yes' (text) instead.",
    "run references_one.toml": "references_one.toml: references must be true or false. Got 1 (a whole number)",
    "run seeds.toml": "seeds.toml: seeds must be a list in square brackets. Got '0' (text) instead.",
    "run seeds_half.toml": "seeds_half.toml: seeds.0 must be a whole number. Got 0.5 (a number) instead.",
    "run seeds_twice.toml": "seeds_twice.toml: seeds must hold each number once. Got [1, 1] instead.",
    "run metrics.toml": "metrics.toml: metrics must be a list in square brackets. Got 'lrap' (text) instead.",
    "run space.toml": "space.toml: label_space must be 'task', 'seen' or 'all'. Got 'tasks' instead.",
    "run jobs.toml": "jobs.toml: n_jobs must be a number of processes, or -1 for as many as cores. Got 0",
    "run directory.toml": "directory.toml: directory must be text. Got 3 (a whole number) instead.",
    "run file.toml": "file.toml: directory must be a folder, or a name for a new one. Got toy.arff",
    "run nowhere.toml": "nowhere.toml must name the directory of the records, or --output must.",
    "run one_stream.toml": "one_stream.toml: streams must be a list in square brackets. Got 's.npz' (text) instead.",
    "run no_streams.toml": "no_streams.toml: streams must be given.",
    "run no_stream.toml": "no_stream.toml: streams must have at least 1 entry.",
    "run missing.toml": "missing.toml: A stream must be a file, a published folder, or one of yeast-tasks",
    "run unknown.toml": "unknown.toml: A strategy must be one of mean, NN",
    "run class.toml": "class.toml: strategies.mine: a class must be of estimators, unless the file is trusted",
    "run class.toml --trust": "class.toml: strategies.mine: nowhere:Nothing must be a class of estimators",
    "run parameter.toml": "parameter.toml: NN must have parameters among ['learning_rate']. Got 'rate'",
}

# What cannot be parsed ends with the status 2.
TYPED = {
    "generat toy.arff": "No such command 'generat'. Did you mean 'generate'",
    "synthesise tre -o x.npz": "No such command 'tre'. Did you mean 'tree'?",
    "perturb nosy-labels s.npz -o x.npz": "Did you mean 'noisy-labels'",
    "datasets lst": "Did you mean 'list'?",
    "generate": "SOURCE must be given.",
    "generate toy.arff": "--output must be given.",
    "scenario toy.arff -o x.npz": "SCENARIO must be given.",
    "perturb noisy-labels s.npz -o x.npz": "--rate must be given.",
    "inspect": "STREAM must be given.",
    "convert s.npz": "OUTPUT must be given.",
    "publish s.npz": "FOLDER must be given.",
    "run": "SOURCES must be given.",
    "report": "DIRECTORY must be given.",
    "generate toy.arff toy.arff -o x.npz": "Got unexpected extra argument(s) (toy.arff).",
    "generate toy.arff --taks 2 -o x.npz": "No such option: --taks; did you mean --tasks?",
    "generate toy.arff --strategies NN -o x.npz": "No such option: --strategies, which is an option of `run`.",
    "synthesise environments --window 3 -o x.npz": "which is an option of `monolab`, `bilab`, `rand`, `hyperplane`",
    "synthesise hat-and-shirt --window 3 -o x.npz": "which is an option of `monolab`, `bilab`, `rand`, `hyperplane`",
    "synthesise stand-in --window 3 -o x.npz": "which is an option of `monolab`, `bilab`, `rand`, `hyperplane`, `tree`",
    "detect": "SOURCES must be given.",
    "detect s.npz": "--output must be given.",
    "detect s.npz -o out --errors cells": "--errors must be one of 'subset', 'hamming'. Got 'cells' instead.",
    "detect s.npz -o out --strategies mean": "No such option: --strategies, which is an option of `run`.",
    "detect s.npz -o out --detectors DDM": "No such option: --detectors; did you mean --detector?",
    "run s.npz -o out --seed 1": "No such option: --seed; did you mean --seeds?",
    "run s.npz -o out --strategy mean": "No such option: --strategy; did you mean --strategies?",
    "run s.npz -o out --energy sun": "--energy must be one of 'codecarbon', 'cpu', 'none'. Got 'sun' instead.",
    "run s.npz -o out --one-class maybe": "--one-class must be one of 'skip', 'recall', 'river'. Got 'maybe' instead.",
    "generate toy.arff --shape round -o x.npz": "--shape must be one of 'linear', 'sigmoid'. Got 'round' instead.",
    "--hlep": "No such option: --hlep; did you mean --help?",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with all the files that the mistakes name."""
    place = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    for name in ("bytes.csv", "bytes.arff", "bytes.arff.gz", "bytes.npz", "bytes.toml", "sheet.xlsx"):
        (place / name).write_bytes(BYTES)
    write_table(place / "toy.arff")
    write_table(place / "one.arff", label_sets=("1100",), n_copies=1)
    save(make_stream(), place / "s.npz")
    (place / "cut.npz").write_bytes((place / "s.npz").read_bytes()[:2000])
    np.savez(place / "other.npz", a=np.zeros(3))
    return place


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def test_a_mistake_is_one_line_that_helps_and_nothing_is_written(folder, capsys, monkeypatch):
    def check(case):
        status, typed, words = case
        before = contents(folder)
        found, error = error_of(capsys, monkeypatch, *shlex.split(typed))
        assert (found, error.count("\n")) == (status, 1), error
        assert error.startswith("Error: ")
        assert words in error
        assert contents(folder) == before

    monkeypatch.chdir(folder)
    check_all([(status, *item) for status, table in ((1, MEANT), (2, TYPED)) for item in table.items()], check)
