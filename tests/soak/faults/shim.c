/* Calls of the system that fail when they are told to: loaded into every process of a command with LD_PRELOAD.
 *
 * Python, NumPy, zipfile, SQLite, Arrow and matplotlib all reach the system through these functions of libc, so that no
 * writer is missed, and no privilege is needed. The file that FAULTS_STATE names is shared by all processes: it holds
 * the order (struct state, which tests/soak/faults/file_system.py packs) and the number of calls so far.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum operation {
    WRITE = 1, FLUSH = 2, RENAME = 4, CREATE = 8, FOLDER = 16, CHMOD = 32, CLOSE = 64, CLOCK = 128, READ = 256, DELETE = 512
};
enum { SHORT_WRITE = -1, POWER_LOSS = -2 };

struct state {
    char root[1024];    /* only files below it count */
    char log[1024];     /* where writes and flushes are recorded; none if empty */
    char failed[1024];  /* the first call that failed */
    int64_t counted;    /* operations that count */
    int64_t later;      /* operations that all fail after the first one that failed */
    int64_t at;         /* number of the call that fails, from 0; -1: none */
    int64_t code;       /* errno of the failure, or POWER_LOSS */
    int64_t is_short;   /* whether a failing write writes its first half */
    int64_t jump_s;     /* the clock is set by so many seconds at call number `at` */
    int64_t n_calls;    /* of the operations that count */
    int64_t by_kind[10]; /* all calls, by operation */
};

struct entry { /* of the log; `length` old bytes follow */
    int64_t kind, device, inode, offset, length, size, new_length;
};

static struct state *state;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_STATE");
    int handle = path ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
    if (handle < 0) return;
    void *memory = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    if (memory != MAP_FAILED) state = memory;
    REAL(close)(handle);
}

static int below_root(const char *path) {
    size_t length = strlen(state->root);
    return length && !strncmp(path, state->root, length) && (path[length] == '/' || !path[length]);
}

static int file_of(int handle, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int path_of(int folder, const char *name, char *path) {
    if (name[0] == '/') return snprintf(path, PATH_MAX, "%s", name) > 0;
    char place[PATH_MAX];
    if (folder == AT_FDCWD ? !getcwd(place, sizeof place) : !file_of(folder, place)) return 0;
    return snprintf(path, PATH_MAX, "%s/%s", place, name) < PATH_MAX;
}

/* Count a call; return the errno with which it fails, or 0. */
static int fault(enum operation operation, const char *path) {
    __sync_fetch_and_add(&state->by_kind[__builtin_ctz(operation)], 1);
    if (!(state->counted & operation) && !(state->failed[0] && (state->later & operation))) return 0;
    int64_t number = state->counted & operation ? __sync_fetch_and_add(&state->n_calls, 1) : -1;
    int is_first = state->at >= 0 && number == state->at;
    if (!is_first && !(state->failed[0] && (state->later & operation))) return 0;
    if (is_first) snprintf(state->failed, sizeof state->failed, "%d %s", operation, path);
    if (state->code == POWER_LOSS) _exit(137);
    return is_first && operation == WRITE && state->is_short ? SHORT_WRITE : (int)state->code;
}

static int handle_fault(enum operation operation, int handle) {
    char path[PATH_MAX];
    int kept = errno;
    int code = state && file_of(handle, path) && below_root(path) ? fault(operation, path) : 0;
    errno = kept;
    return code;
}

static int path_fault(enum operation operation, int folder, const char *name) {
    char path[PATH_MAX];
    int kept = errno;
    int code = state && path_of(folder, name, path) && below_root(path) ? fault(operation, path) : 0;
    errno = kept;
    return code;
}

/* Record what a write is about to replace, or that a file is flushed (new_length -1). */
static void record(int handle, off_t offset, int64_t new_length) {
    char path[PATH_MAX];
    struct stat found;
    int kept = errno;
    if (state && state->log[0] && file_of(handle, path) && below_root(path) && !fstat(handle, &found)) {
        struct entry entry = {new_length < 0, found.st_dev, found.st_ino, offset, 0, found.st_size, new_length};
        int64_t most = new_length > 0 && offset < found.st_size ? found.st_size - offset : 0;
        int64_t wanted = most < new_length ? most : new_length;
        char *packed = malloc(sizeof entry + wanted);
        /* Through a handle of its own: that of the writer may not read. */
        int reader = wanted ? REAL(open)(path, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t got = reader < 0 ? 0 : REAL(pread)(reader, packed + sizeof entry, wanted, offset);
        if (reader >= 0) REAL(close)(reader);
        entry.length = got < 0 ? 0 : got;
        memcpy(packed, &entry, sizeof entry);
        int log = REAL(open)(state->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log < 0 || REAL(write)(log, packed, sizeof entry + entry.length) < 0) abort();
        REAL(close)(log);
        free(packed);
    }
    errno = kept;
}

static off_t place_of(int handle) {
    struct stat found;
    if (fcntl(handle, F_GETFL) & O_APPEND && !fstat(handle, &found)) return found.st_size;
    return lseek(handle, 0, SEEK_CUR);
}

#define FAIL(code, value) do { errno = (code); return (value); } while (0)

/* Fail, or write the first half, or record and write. */
#define WRITE_OR_FAIL(handle, offset, length, call, half) \
    int code = handle_fault(WRITE, handle);               \
    if (code == SHORT_WRITE && (length) < 2) code = ENOSPC; \
    if (code > 0) FAIL(code, -1);                         \
    record(handle, offset, length);                       \
    return code == SHORT_WRITE ? half : call

ssize_t write(int handle, const void *bytes, size_t length) {
    WRITE_OR_FAIL(handle, place_of(handle), (int64_t)length, REAL(write)(handle, bytes, length),
                  REAL(write)(handle, bytes, length / 2));
}

ssize_t pwrite64(int handle, const void *bytes, size_t length, off64_t offset) {
    WRITE_OR_FAIL(handle, offset, (int64_t)length, REAL(pwrite64)(handle, bytes, length, offset),
                  REAL(pwrite64)(handle, bytes, length / 2, offset));
}

ssize_t pwrite(int handle, const void *bytes, size_t length, off_t offset) {
    return pwrite64(handle, bytes, length, offset);
}

ssize_t writev(int handle, const struct iovec *parts, int n_parts) {
    size_t length = 0;
    for (int i = 0; i < n_parts; i++) length += parts[i].iov_len;
    WRITE_OR_FAIL(handle, place_of(handle), (int64_t)length, REAL(writev)(handle, parts, n_parts),
                  REAL(write)(handle, parts[0].iov_base, parts[0].iov_len));
}

/* libc's own buffers do not come through write(): NumPy's tofile() ends here. */
size_t fwrite(const void *bytes, size_t size, size_t number, FILE *file) {
    int handle = fileno(file), code = handle_fault(WRITE, handle);
    if (code) FAIL(code == SHORT_WRITE ? ENOSPC : code, 0);
    char path[PATH_MAX];
    if (!state || !file_of(handle, path) || !below_root(path)) return REAL(fwrite)(bytes, size, number, file);
    fflush(file);
    record(handle, place_of(handle), (int64_t)(size * number));
    size_t written = REAL(fwrite)(bytes, size, number, file);
    return fflush(file) ? 0 : written;
}

int ftruncate64(int handle, off64_t length) {
    int code = handle_fault(WRITE, handle);
    if (code) FAIL(code == SHORT_WRITE ? ENOSPC : code, -1);
    struct stat found;
    if (!fstat(handle, &found) && length < found.st_size) record(handle, length, found.st_size - length);
    return REAL(ftruncate64)(handle, length);
}

int ftruncate(int handle, off_t length) { return ftruncate64(handle, length); }

/* Python copies files with these two; it falls back to read and write, which are seen. */
ssize_t sendfile64(int out, int in, off64_t *offset, size_t length) {
    char path[PATH_MAX];
    if (state && file_of(out, path) && below_root(path)) FAIL(ENOTSOCK, -1);
    return ((ssize_t(*)(int, int, off64_t *, size_t))real("sendfile64"))(out, in, offset, length);
}

ssize_t sendfile(int out, int in, off_t *offset, size_t length) { return sendfile64(out, in, offset, length); }

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
    char path[PATH_MAX];
    if (state && file_of(out, path) && below_root(path)) FAIL(ENOSYS, -1);
    return REAL(copy_file_range)(in, from, out, to, length, flags);
}

int fsync(int handle) {
    int code = handle_fault(FLUSH, handle);
    if (code) FAIL(code, -1);
    record(handle, 0, -1);
    return REAL(fsync)(handle);
}

int fdatasync(int handle) {
    int code = handle_fault(FLUSH, handle);
    if (code) FAIL(code, -1);
    record(handle, 0, -1);
    return REAL(fdatasync)(handle);
}

int rename(const char *from, const char *to) {
    int code = path_fault(RENAME, AT_FDCWD, to);
    if (code) FAIL(code, -1);
    return REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    int code = path_fault(RENAME, to_folder, to);
    if (code) FAIL(code, -1);
    return REAL(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    int code = path_fault(RENAME, to_folder, to);
    if (code) FAIL(code, -1);
    return REAL(renameat2)(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to) {
    int code = path_fault(RENAME, AT_FDCWD, to);
    if (code) FAIL(code, -1);
    return REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    int code = path_fault(RENAME, to_folder, to);
    if (code) FAIL(code, -1);
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

/* Emptying a file that exists is a write of nothing over its content. */
static void record_emptied(const char *name, int folder, int flags) {
    int handle;
    struct stat found;
    if (!(flags & O_TRUNC) || !state || !state->log[0]) return;
    if ((handle = REAL(openat)(folder, name, O_RDONLY | O_CLOEXEC)) < 0) return;
    if (!fstat(handle, &found)) record(handle, 0, found.st_size);
    REAL(close)(handle);
}

#define OPEN_OR_FAIL(folder, name, flags, call)                              \
    mode_t mode = 0;                                                         \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                 \
        va_list rest;                                                        \
        va_start(rest, flags);                                               \
        mode = va_arg(rest, mode_t);                                         \
        va_end(rest);                                                        \
        int code = path_fault(CREATE, folder, name);                         \
        if (code) FAIL(code, -1);                                            \
    }                                                                        \
    record_emptied(name, folder, flags);                                     \
    return call

int open(const char *name, int flags, ...) { OPEN_OR_FAIL(AT_FDCWD, name, flags, REAL(open)(name, flags, mode)); }
int open64(const char *name, int flags, ...) { OPEN_OR_FAIL(AT_FDCWD, name, flags, REAL(open64)(name, flags, mode)); }
int openat(int folder, const char *name, int flags, ...) {
    OPEN_OR_FAIL(folder, name, flags, REAL(openat)(folder, name, flags, mode));
}
int openat64(int folder, const char *name, int flags, ...) {
    OPEN_OR_FAIL(folder, name, flags, REAL(openat64)(folder, name, flags, mode));
}

int mkdir(const char *name, mode_t mode) {
    int code = path_fault(FOLDER, AT_FDCWD, name);
    if (code) FAIL(code, -1);
    return REAL(mkdir)(name, mode);
}

int mkdirat(int folder, const char *name, mode_t mode) {
    int code = path_fault(FOLDER, folder, name);
    if (code) FAIL(code, -1);
    return REAL(mkdirat)(folder, name, mode);
}

int chmod(const char *name, mode_t mode) {
    int code = path_fault(CHMOD, AT_FDCWD, name);
    if (code) FAIL(code, -1);
    return REAL(chmod)(name, mode);
}

int fchmodat(int folder, const char *name, mode_t mode, int flags) {
    int code = path_fault(CHMOD, folder, name);
    if (code) FAIL(code, -1);
    return REAL(fchmodat)(folder, name, mode, flags);
}

#define READ_OR_FAIL(handle, call)           \
    int code = handle_fault(READ, handle);   \
    if (code > 0) FAIL(code, -1);            \
    return call

ssize_t read(int handle, void *bytes, size_t length) { READ_OR_FAIL(handle, REAL(read)(handle, bytes, length)); }

ssize_t pread64(int handle, void *bytes, size_t length, off64_t offset) {
    READ_OR_FAIL(handle, REAL(pread64)(handle, bytes, length, offset));
}

ssize_t pread(int handle, void *bytes, size_t length, off_t offset) { return pread64(handle, bytes, length, offset); }

ssize_t readv(int handle, const struct iovec *parts, int n_parts) {
    READ_OR_FAIL(handle, REAL(readv)(handle, parts, n_parts));
}

/* NumPy's fromfile(). */
size_t fread(void *bytes, size_t size, size_t number, FILE *file) {
    int code = handle_fault(READ, fileno(file));
    if (code > 0) FAIL(code, 0);
    return REAL(fread)(bytes, size, number, file);
}

int unlink(const char *name) {
    int code = path_fault(DELETE, AT_FDCWD, name);
    if (code) FAIL(code, -1);
    return REAL(unlink)(name);
}

int unlinkat(int folder, const char *name, int flags) {
    int code = path_fault(DELETE, folder, name);
    if (code) FAIL(code, -1);
    return REAL(unlinkat)(folder, name, flags);
}

int rmdir(const char *name) {
    int code = path_fault(DELETE, AT_FDCWD, name);
    if (code) FAIL(code, -1);
    return REAL(rmdir)(name);
}

/* As the system does: the handle is closed, whatever close() returns. Only files that could be written count. */
int close(int handle) {
    int code = state && (fcntl(handle, F_GETFL) & O_ACCMODE) != O_RDONLY ? handle_fault(CLOSE, handle) : 0;
    int done = REAL(close)(handle);
    if (code) FAIL(code, -1);
    return done;
}

static int64_t jump(void) {
    if (!state || !state->root[0]) return 0;
    __sync_fetch_and_add(&state->by_kind[__builtin_ctz(CLOCK)], 1);
    if (!state->jump_s) return 0;
    return __sync_fetch_and_add(&state->n_calls, 1) >= state->at ? state->jump_s : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int done = REAL(clock_gettime)(clock, now);
    if (!done && clock == CLOCK_REALTIME) now->tv_sec += jump();
    return done;
}

int gettimeofday(struct timeval *now, void *zone) {
    int done = REAL(gettimeofday)(now, zone);
    if (!done) now->tv_sec += jump();
    return done;
}

time_t time(time_t *place) {
    time_t now = REAL(time)(NULL) + jump();
    if (place) *place = now;
    return now;
}
