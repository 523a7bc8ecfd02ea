import { Redis } from 'ioredis'
import { programInProcess } from './target'

/**
 * The connection of a target to Redis. With `BENCH_GATHER=yes` it sends as the suite's store does: what one turn of the event
 * loop asks for goes out in one packet. A call of the system for each command costs more than all else about it, so a server
 * without this would lose by its connection, and not by what it does.
 */
export function connectToRedis(): Redis {
  const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', {
    // In one process nothing is asked of it.
    lazyConnect: programInProcess !== undefined,
  })
  return process.env['BENCH_GATHER'] === 'yes' ? gathered(redis) : redis
}

function gathered(redis: Redis): Redis {
  const send = redis.sendCommand.bind(redis)
  let held: Redis['stream'] | undefined
  const letGo = () => {
    held?.uncork()
    held = undefined
  }
  redis.sendCommand = (command, stream) => {
    if (held === undefined && redis.status === 'ready') {
      held = redis.stream
      held.cork()
      setImmediate(letGo)
    }
    return send(command, stream)
  }
  return redis
}
