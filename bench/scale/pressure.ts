import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import type { Redis } from 'ioredis'
import { Batch } from './batch'
import { numberOf } from './fill'
import type { StoreCommand } from './store-commands'

interface Load {
  /** The id of the authorization inside its words. */
  readonly id: string
  readonly connections: number
  /** Commands in one packet. */
  readonly batch: number
  /** Authorizations that it is spread over; 0 for a new one each time. */
  readonly spread: number
  readonly milliseconds: number
}

/**
 * Sends one kind of command as fast as it is answered. A wrong answer ends everything. Returns the microseconds of
 * processor time that Redis took for one command.
 */
export async function press(
  redis: Redis,
  { words, reply }: Pick<StoreCommand, 'words' | 'reply'>,
  { id, connections, batch, spread, milliseconds }: Load,
): Promise<number> {
  const { port = 0 } = redis.options
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(port)))
  let next = 0
  let done = 0
  const before = await usedBy(redis)
  const start = performance.now()
  await Promise.all(
    sockets.map(async (socket) => {
      const commands = new Batch(words, id, batch)
      while (performance.now() - start < milliseconds) {
        commands.address(next)
        next = spread === 0 ? next + batch : (next + batch) % spread
        await exchange(socket, commands.bytes, reply, batch)
        done += batch
      }
    }),
  )
  const used = (await usedBy(redis)) - before
  for (const socket of sockets) socket.destroy()
  return used / done
}

/** Sends a packet and resolves when as much came back as the replies to it are long. */
function exchange(socket: Socket, bytes: Buffer, reply: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing = reply.length * count
    socket.on('data', take)
    socket.write(bytes)

    function take(received: Buffer): void {
      const isFirst = missing === reply.length * count
      missing -= received.length
      const isWrong = isFirst && received.toString('latin1', 0, 4) !== reply.slice(0, 4)
      if (missing > 0 && !isWrong) return
      socket.off('data', take)
      if (isWrong || missing < 0) reject(new Error(`Redis answers ${received.toString('latin1', 0, 100)}`))
      else resolve()
    }
  })
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  await once(socket, 'connect')
  return socket
}

/** Microseconds of processor time. */
async function usedBy(redis: Redis): Promise<number> {
  const info = await redis.info('cpu')
  return (numberOf(info, 'used_cpu_user') + numberOf(info, 'used_cpu_sys')) * 1e6
}
