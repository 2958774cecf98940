/* Loaded before the C library: counts the calls that change files, and ends the process at one of them or lets all from it on fail
 * as on a full disk. MINGTI_SHIM is "kill N", "tear N" (half of a write is done), "full N" or "count"; MINGTI_SHIM_COUNT names a
 * file for the count. Calls on other things than regular files and folders are not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;
static long at;
static char mode;

__attribute__((constructor)) static void start(void) {
    const char *what = getenv("MINGTI_SHIM");
    if (what == NULL) return;
    mode = what[0];
    const char *number = strchr(what, ' ');
    at = number ? atol(number) : -1;
}

__attribute__((destructor)) static void stop(void) {
    const char *path = getenv("MINGTI_SHIM_COUNT");
    if (path == NULL) return;
    mode = 0;
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%ld", (long)calls);
        fclose(file);
    }
}

/* 0: go on; 1: do half and end; -1: fail. */
static int step(void) {
    if (mode == 0) return 0;
    long number = ++calls;
    if (mode == 'k' && number == at) _exit(86);
    if (mode == 't' && number == at) return 1;
    if (mode == 'f' && number >= at) {
        errno = ENOSPC;
        return -1;
    }
    return 0;
}

static int is_file(int fd) {
    struct stat info;
    return mode != 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

ssize_t write(int fd, const void *bytes, size_t len) {
    if (is_file(fd)) {
        int what = step();
        if (what < 0) return -1;
        if (what > 0) {
            REAL(write)(fd, bytes, len / 2);
            _exit(86);
        }
    }
    return REAL(write)(fd, bytes, len);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (is_file(fd)) {
        int what = step();
        if (what < 0) return -1;
        if (what > 0) {
            REAL(writev)(fd, parts, count / 2);
            _exit(86);
        }
    }
    return REAL(writev)(fd, parts, count);
}

static ssize_t pwrite_at(ssize_t (*real)(int, const void *, size_t, off64_t), int fd, const void *bytes, size_t len, off64_t to) {
    if (is_file(fd)) {
        int what = step();
        if (what < 0) return -1;
        if (what > 0) {
            real(fd, bytes, len / 2, to);
            _exit(86);
        }
    }
    return real(fd, bytes, len, to);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t to) { return pwrite_at(REAL(pwrite64), fd, bytes, len, to); }
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t to) { return pwrite_at(REAL(pwrite64), fd, bytes, len, to); }

#define COUNTED(name, declaration, call) \
    int name declaration { \
        if (step() != 0) { \
            if (mode == 't') _exit(86); \
            return -1; \
        } \
        return REAL(name) call; \
    }

COUNTED(ftruncate, (int fd, off_t len), (fd, len))
COUNTED(ftruncate64, (int fd, off64_t len), (fd, len))
COUNTED(rename, (const char *from, const char *to), (from, to))
COUNTED(linkat, (int from, const char *old, int to, const char *new, int flags), (from, old, to, new, flags))
COUNTED(mkdir, (const char *path, mode_t bits), (path, bits))

/* These free room, so they succeed on a full disk; a process may end at them all the same. */
#define FREEING(name, declaration, call) \
    int name declaration { \
        if (mode != 'f' && step() != 0) _exit(86); \
        return REAL(name) call; \
    }

FREEING(fsync, (int fd), (fd))
FREEING(fdatasync, (int fd), (fd))
FREEING(unlink, (const char *path), (path))
FREEING(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
FREEING(rmdir, (const char *path), (path))
