/*
 * Wide-area link emulation for one lab: a userspace relay behind a TUN device.
 *
 * The kernel routes every packet that crosses from one site to another into the
 * TUN device. This program holds each packet for the one-way delay of its link and
 * writes it back, after which the kernel forwards it to the destination site.
 * A link is directional here: "a to b" and "b to a" have queues of their own, so
 * that a saturated upload does not slow the download.
 *
 *   wan TUN CONFIG STATS LOCK
 *
 * CONFIG, one statement a line (see wan.ts, which writes it):
 *   net  ADDRESS/PREFIX SITE          addresses that belong to site number SITE
 *   link A B DELAY_US JITTER_US LOSS_PPM RATE_KBIT UP   one-way figures, both ways;
 *                                     RATE_KBIT 0 = unlimited, UP 0 = cut
 * SIGHUP reads it again (packets under way keep their time), SIGUSR1 writes STATS:
 *   serial N
 *   link FROM TO packets bytes lost overflow cut held
 * Sites without a link statement between them are joined without delay.
 *
 * Packets of one direction keep their order, also under jitter: a path whose
 * queueing varies does not reorder, and reordering would cost TCP more than the
 * delay under study.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define SITES 16
#define NETS 64
#define PACKET_MAX 2048
#define READ_BATCH 64
/* Bytes one direction may hold: the bandwidth-delay product of 1 Gbit/s over 250 ms. */
#define HELD_MAX (32u << 20)
/* Packets one direction may hold: HELD_MAX of 512-byte packets. A power of two. */
#define RING 65536u
/* A rate-limited link drops what would wait longer than this for the wire, as a router's buffer does. */
#define QUEUE_NS 100000000ll

struct packet { int64_t due; uint16_t length; unsigned char data[]; };

struct direction {
    int64_t delay, jitter, rate_kbit;
    uint32_t loss_ppm;
    int up;
    int64_t wire_free, last_due;
    struct packet **ring;
    uint32_t head, tail, held;
    uint64_t packets, bytes, lost, overflow, cut;
};

struct net { uint32_t address, mask; int site; };

static struct direction directions[SITES][SITES];
static struct direction *active[SITES * SITES];
static int active_count;
static struct net nets[NETS];
static int net_count;
static uint64_t serial, random_state = 88172645463325252ull;

static void fail(const char *what) {
    fprintf(stderr, "wan: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static uint64_t next_random(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ull;
}

static int site_of(uint32_t address) {
    for (int i = 0; i < net_count; i++)
        if ((address & nets[i].mask) == nets[i].address) return nets[i].site;
    return -1;
}

static int has_site(int site) {
    for (int i = 0; i < net_count; i++)
        if (nets[i].site == site) return 1;
    return 0;
}

static void read_config(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file) { fprintf(stderr, "wan: %s: %s; the settings stay as they are\n", path, strerror(errno)); return; }
    net_count = 0;
    for (int a = 0; a < SITES; a++)
        for (int b = 0; b < SITES; b++) {
            struct direction *d = &directions[a][b];
            d->delay = d->jitter = d->rate_kbit = 0;
            d->loss_ppm = 0;
            d->up = 1;
        }
    char line[256], address[64];
    int prefix, site, a, b, up;
    long long delay, jitter, rate;
    unsigned loss;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "net %63[0-9.]/%d %d", address, &prefix, &site) == 3) {
            if (net_count == NETS || site < 0 || site >= SITES || prefix < 1 || prefix > 32) continue;
            struct net *n = &nets[net_count++];
            n->mask = ~0u << (32 - prefix);
            n->address = ntohl(inet_addr(address)) & n->mask;
            n->site = site;
        } else if (sscanf(line, "link %d %d %lld %lld %u %lld %d", &a, &b, &delay, &jitter, &loss, &rate, &up) == 7) {
            if (a < 0 || b < 0 || a >= SITES || b >= SITES) continue;
            struct direction *both[2] = { &directions[a][b], &directions[b][a] };
            for (int i = 0; i < 2; i++) {
                both[i]->delay = delay * 1000;
                both[i]->jitter = jitter * 1000;
                both[i]->loss_ppm = loss;
                both[i]->rate_kbit = rate;
                both[i]->up = up;
            }
        }
    }
    fclose(file);
    /* A number that no site has may be given to a new one, which starts from nothing. */
    for (a = 0; a < SITES; a++)
        for (b = 0; b < SITES; b++)
            if (!has_site(a) || !has_site(b)) {
                struct direction *d = &directions[a][b];
                d->packets = d->bytes = d->lost = d->overflow = d->cut = 0;
            }
}

static void write_stats(const char *path) {
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "we");
    if (!file) return;
    fprintf(file, "serial %llu\n", (unsigned long long)++serial);
    for (int a = 0; a < SITES; a++)
        for (int b = 0; b < SITES; b++) {
            struct direction *d = &directions[a][b];
            if (!d->packets && !d->lost && !d->overflow && !d->cut) continue;
            fprintf(file, "link %d %d %llu %llu %llu %llu %llu %u\n", a, b, (unsigned long long)d->packets,
                    (unsigned long long)d->bytes, (unsigned long long)d->lost, (unsigned long long)d->overflow,
                    (unsigned long long)d->cut, d->tail - d->head);
        }
    fclose(file);
    if (rename(temporary, path)) fprintf(stderr, "wan: %s: %s\n", path, strerror(errno));
}

static void accept_packet(const unsigned char *data, int length, int64_t now) {
    if (length < 20 || data[0] >> 4 != 4) return;
    uint32_t source, destination;
    memcpy(&source, data + 12, 4);
    memcpy(&destination, data + 16, 4);
    int from = site_of(ntohl(source)), to = site_of(ntohl(destination));
    if (from < 0 || to < 0) return;
    struct direction *d = &directions[from][to];
    if (!d->up) { d->cut++; return; }
    if (d->loss_ppm && next_random() % 1000000 < d->loss_ppm) { d->lost++; return; }
    int64_t start = now;
    if (d->rate_kbit) {
        if (d->wire_free > start) start = d->wire_free;
        if (start - now > QUEUE_NS) { d->overflow++; return; }
        start += length * 8000000ll / d->rate_kbit;
        d->wire_free = start;
    }
    if (d->tail - d->head == RING || d->held + length > HELD_MAX) { d->overflow++; return; }
    if (!d->ring && !(d->ring = calloc(RING, sizeof *d->ring))) fail("memory");
    struct packet *p = malloc(sizeof *p + length);
    if (!p) { d->overflow++; return; }
    p->due = start + d->delay;
    /* Uniform in [-jitter, +jitter], never before the packet was received. */
    if (d->jitter) p->due += (int64_t)(next_random() % (uint64_t)(2 * d->jitter + 1)) - d->jitter;
    if (p->due < start) p->due = start;
    if (p->due < d->last_due) p->due = d->last_due;
    d->last_due = p->due;
    p->length = length;
    memcpy(p->data, data, length);
    if (d->head == d->tail) active[active_count++] = d;
    d->ring[d->tail++ & (RING - 1)] = p;
    d->held += length;
}

/* Writes what is due; returns when the next packet is, or -1. */
static int64_t deliver(int tun) {
    int64_t next = -1, now = now_ns();
    for (int i = 0; i < active_count;) {
        struct direction *d = active[i];
        struct packet *p;
        while (d->head != d->tail && (p = d->ring[d->head & (RING - 1)])->due <= now) {
            if (write(tun, p->data, p->length) == p->length) { d->packets++; d->bytes += p->length; }
            else d->overflow++;
            d->head++;
            d->held -= p->length;
            free(p);
        }
        if (d->head == d->tail) { active[i] = active[--active_count]; continue; }
        int64_t due = d->ring[d->head & (RING - 1)]->due;
        if (next < 0 || due < next) next = due;
        i++;
    }
    return next;
}

static int open_tun(const char *name) {
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) fail("/dev/net/tun");
    struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request)) fail(name);
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "usage: wan TUN CONFIG STATS LOCK\n"); return 1; }
    const char *config = argv[2], *stats = argv[3];
    int lock = open(argv[4], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB)) fail("another relay serves this lab");

    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);

    /* A late wake-up would show as round-trip time: no timer slack, and ahead of the
       databases under test, which share the processors with this program. */
    prctl(PR_SET_TIMERSLACK, 1);
    struct sched_param priority = { .sched_priority = 1 };
    if (sched_setscheduler(0, SCHED_RR, &priority)) setpriority(PRIO_PROCESS, 0, -20);
    mlockall(MCL_CURRENT);

    read_config(config);
    int tun = open_tun(argv[1]);
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = tun };
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, tun, &event);
    event.data.fd = signal_fd;
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, signal_fd, &event);
    fprintf(stderr, "wan: relaying on %s\n", argv[1]);

    unsigned char buffer[PACKET_MAX];
    for (;;) {
        int64_t next = deliver(tun), wait = next < 0 ? -1 : next - now_ns();
        if (next >= 0 && wait < 0) wait = 0;
        struct timespec timeout = { wait / 1000000000, wait % 1000000000 };
        struct epoll_event ready[2];
        int count = epoll_pwait2(poll_fd, ready, 2, next < 0 ? NULL : &timeout, NULL);
        if (count < 0 && errno != EINTR) fail("epoll");
        for (int i = 0; i < count; i++) {
            if (ready[i].data.fd == signal_fd) {
                struct signalfd_siginfo info;
                while (read(signal_fd, &info, sizeof info) == sizeof info) {
                    if (info.ssi_signo == SIGHUP) read_config(config);
                    else write_stats(stats);
                }
                continue;
            }
            int64_t now = now_ns();
            for (int n = 0; n < READ_BATCH; n++) {
                ssize_t length = read(tun, buffer, sizeof buffer);
                if (length < 0 && errno != EAGAIN && errno != EINTR) fail("read from the tunnel");
                if (length <= 0) break;
                accept_packet(buffer, (int)length, now);
            }
        }
    }
}
