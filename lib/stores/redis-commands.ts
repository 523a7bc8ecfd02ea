/**
 * All that the suite asks of a Redis client: send one command. `Redis` and `Cluster` of ioredis satisfy it, for a
 * single server, a cluster and behind Sentinel alike; for node-redis it is
 * `{ call: (...words) => client.sendCommand(words) }`.
 */
export interface RedisCommands {
  call(command: string, ...words: string[]): Promise<unknown>
}
