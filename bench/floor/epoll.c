/* The least that many connections to a Redis cost: one thread, and one operation in flight on each
 * of them. */

#include <sys/epoll.h>

#include "floor.h"

enum { MOST_CONNECTIONS = 10000 };

struct connection {
    int socket;
    size_t have; /* bytes of the answer that are here */
};

int main(int count, char **words)
{
    static struct load load;
    static struct connection connections[MOST_CONNECTIONS];
    static struct epoll_event ready[MOST_CONNECTIONS];
    read_load(&load, count, words, MOST_CONNECTIONS);
    int poll = epoll_create1(0);
    if (poll < 0)
        fail_with("epoll_create1");
    for (int each = 0; each < load.connections; each++) {
        connections[each].socket = connect_to_server(&load);
        struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = &connections[each]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, connections[each].socket, &wanted) < 0)
            fail_with("epoll_ctl");
    }
    begin(&load);
    uint64_t asked = 0;
    for (int each = 0; each < load.connections && asked < load.operations; each++, asked++)
        ask(&load, connections[each].socket);
    for (uint64_t done = 0; done < load.operations;) {
        int events = epoll_wait(poll, ready, load.connections, -1);
        if (events < 0)
            fail_with("epoll_wait");
        for (int event = 0; event < events; event++) {
            struct connection *from = ready[event].data.ptr;
            if (!receive(&load, from->socket, &from->have))
                continue;
            done++;
            if (asked < load.operations) {
                ask(&load, from->socket);
                asked++;
            }
        }
    }
    tell(&load);
    return 0;
}
