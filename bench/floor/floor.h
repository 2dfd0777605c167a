/* What both floors share: a request that names another record each time, and answers of a known
 * length. Nothing is parsed, timed or kept: what is left is the least that a client costs. */

#ifndef FLOOR_H
#define FLOOR_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

/* Stands for the number of a record in a request, as in redis-benchmark; as long as the number. */
#define PLACE "__rand_int__"
enum { DIGITS = sizeof PLACE - 1, MOST_BYTES = 1 << 16 };
#define MOST 1000000000000 /* what its digits can count */

/* What to ask for, how often, and how far it is. */
struct load {
    uint16_t port;
    uint64_t operations; /* how many to carry out */
    uint64_t records;    /* numbers are 0 … records - 1, each as likely as the others */
    size_t answer_bytes; /* length of every answer */
    int connections;     /* one operation is in flight on each */
    char request[MOST_BYTES];
    size_t request_bytes;
    char *number; /* its digits in the request */
    uint64_t random;
    struct timespec began;
};

static inline _Noreturn void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline _Noreturn void fail_with(const char *call)
{
    fprintf(stderr, "%s: %s\n", call, strerror(errno));
    exit(1);
}

/* A whole number from 1 to `most`. */
static inline uint64_t number_of(const char *word, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(word, &end, 10);
    if (errno != 0 || end == word || *end != '\0' || number < 1 || number > most) {
        fprintf(stderr, "%s: a whole number from 1 to %llu is wanted\n", word,
                (unsigned long long)most);
        exit(2);
    }
    return number;
}

/* Reads the words of the command line, and the request from standard input. */
static inline void read_load(struct load *load, int count, char **words, int most_connections)
{
    if (count != 6) {
        fprintf(stderr,
                "usage: %s PORT OPERATIONS RECORDS ANSWER_BYTES CONNECTIONS < REQUEST\n"
                "REQUEST is one request of the protocol with " PLACE " for the number of a record.\n",
                words[0]);
        exit(2);
    }
    load->port = (uint16_t)number_of(words[1], UINT16_MAX);
    load->operations = number_of(words[2], MOST);
    load->records = number_of(words[3], MOST);
    load->answer_bytes = number_of(words[4], MOST_BYTES);
    load->connections = (int)number_of(words[5], (uint64_t)most_connections);
    load->request_bytes = fread(load->request, 1, MOST_BYTES - 1, stdin);
    load->request[load->request_bytes] = '\0';
    load->number = strstr(load->request, PLACE);
    if (load->number == NULL)
        fail("the request has no " PLACE);
    load->random = 88172645463325252; /* the seed of Marsaglia's Xorshift RNGs, 2003 */
}

static inline int connect_to_server(const struct load *load)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(load->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connection < 0)
        fail_with("socket");
    if (connect(connection, (struct sockaddr *)&address, sizeof address) < 0)
        fail_with("connect");
    int on = 1;
    if (setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        fail_with("setsockopt");
    return connection;
}

/* From here on time counts. */
static inline void begin(struct load *load)
{
    clock_gettime(CLOCK_MONOTONIC, &load->began);
}

/* Asks for a random record. */
static inline void ask(struct load *load, int connection)
{
    load->random ^= load->random << 13;
    load->random ^= load->random >> 7;
    load->random ^= load->random << 17;
    uint64_t rest = load->random % load->records;
    for (int at = DIGITS - 1; at >= 0; at--, rest /= 10)
        load->number[at] = (char)('0' + rest % 10);
    ssize_t sent = send(connection, load->request, load->request_bytes, MSG_NOSIGNAL);
    if (sent < 0)
        fail_with("send");
    if ((size_t)sent != load->request_bytes)
        fail("send: the kernel did not take the whole request");
}

/* Takes what has come of an answer of which `have` bytes were here; whether it is whole now. */
static inline int receive(const struct load *load, int connection, size_t *have)
{
    char answer[MOST_BYTES];
    ssize_t got = recv(connection, answer, sizeof answer, 0);
    if (got < 0)
        fail_with("recv");
    if (got == 0)
        fail("the server closed the connection");
    if (*have == 0 && answer[0] == '-') {
        const char *end = memchr(answer, '\r', (size_t)got);
        fprintf(stderr, "the server answered: %.*s\n", (int)(end ? end - answer : got), answer);
        exit(1);
    }
    *have += (size_t)got;
    if (*have < load->answer_bytes)
        return 0;
    if (*have > load->answer_bytes)
        fail("an answer is longer than ANSWER_BYTES");
    *have = 0;
    return 1;
}

/* One line of JSON: what was carried out, in how many seconds. */
static inline void tell(const struct load *load)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - load->began.tv_sec) +
                     (double)(now.tv_nsec - load->began.tv_nsec) / 1e9;
    printf("{\"operations\": %llu, \"seconds\": %.9f}\n", (unsigned long long)load->operations,
           seconds);
}

#endif
