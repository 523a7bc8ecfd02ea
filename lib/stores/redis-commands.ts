/**
 * All that the suite asks of a Redis client: send one command. `Redis` and `Cluster` of ioredis satisfy it, for a
 * single server, a cluster and behind Sentinel alike; for node-redis it is
 * `{ call: (...words) => client.sendCommand(words) }`.
 */
export interface RedisCommands {
  call(command: string, ...words: string[]): Promise<unknown>
}

/**
 * What `waitForReplicas` asks of a Redis client beside: commands back to back on one connection, to the node that keeps
 * their keys. `Redis` and `Cluster` of ioredis satisfy it. The first word is the command in lower case.
 */
export interface PipelinedCommands {
  pipeline(commands: string[][]): {
    /** An error or a reply for each command. */
    exec(): Promise<[error: Error | null, reply: unknown][] | null>
  }
}
