export { redisStore, type RedisStoreOptions } from '../stores/redis/redis-store'
export type { PipelinedCommands, RedisCommands, RedisStore } from '../stores/redis/redis-commands'
export type { ReplicaWait } from '../stores/redis/writes'
