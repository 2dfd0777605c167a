/* The least that one connection to a Redis costs: ask, wait for the answer, ask again. */

#include "floor.h"

int main(int count, char **words)
{
    static struct load load;
    read_load(&load, count, words, 1);
    int connection = connect_to_server(&load);
    size_t have = 0;
    begin(&load);
    for (uint64_t done = 0; done < load.operations; done++) {
        ask(&load, connection);
        while (!receive(&load, connection, &have))
            ;
    }
    tell(&load);
    return 0;
}
