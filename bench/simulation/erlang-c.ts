/**
 * The mean wait in a queue of type M/M/c, in units of the mean service time (A. K. Erlang, 1917; the recurrence for the blocking
 * probability is that of Kleinrock, "Queueing Systems", volume 1, 1975, section 3.6).
 * @param servers number of servers, c
 * @param load offered load in erlangs, less than `servers`
 */
export function meanWaitOfQueue(servers: number, load: number): number {
  let blocking = 1;
  for (let server = 1; server <= servers; server += 1)
    blocking = (load * blocking) / (server + load * blocking);
  const waits = blocking / (1 - (load / servers) * (1 - blocking));
  return waits / (servers - load);
}
