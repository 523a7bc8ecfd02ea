export { redisStore, type RedisStore, type RedisStoreOptions } from '../stores/redis/redis-store'
export type { PipelinedCommands, RedisCommands } from '../stores/redis/redis-commands'
export type { ReplicaWait } from '../stores/redis/writes'
