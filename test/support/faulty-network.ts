import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { CommandReader } from './command-reader'

/** The way to a Redis, with everything that can happen on it. */
export interface FaultyNetwork {
  readonly url: string
  /** Where connections that come from now on lead. */
  leadTo(port: number): void
  /** How long each piece of data takes, in each direction. */
  delay(milliseconds: number): void
  /** Breaks the connections of this many replies, from the next one on: commands arrive, replies do not. */
  loseReplies(count: number): void
  /** Breaks each new connection at once. */
  refuse(on: boolean): void
  /** From now on nothing passes the connections that are open, and neither end learns of it. */
  silence(): void
  /** Whether it keeps a copy of each write of an authorization that passes, its removal aside. */
  copyWrites(on: boolean): void
  /** How many copies wait. */
  copiedWrites(): number
  /** Delivers the copies in their order, where new connections lead now. Resolves to how many there were. */
  deliverCopies(): Promise<number>
  /** How many replies were lost. */
  lostReplies(): number
  stop(): Promise<void>
}

interface Weather {
  port: number
  delay: number
  losing: number
  refusing: boolean
  lost: number
  copying: boolean
  copies: (readonly string[])[]
  /** Connections of an earlier generation are silent. */
  generation: number
}

export async function startFaultyNetwork(port: number): Promise<FaultyNetwork> {
  const calm = { delay: 0, losing: 0, refusing: false, lost: 0, copying: false, copies: [], generation: 0 }
  const weather: Weather = { port, ...calm }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    for (const socket of join(client, weather)) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The network has no port.')
  return {
    url: `redis://127.0.0.1:${address.port}`,
    leadTo: (next) => (weather.port = next),
    delay: (milliseconds) => (weather.delay = milliseconds),
    loseReplies: (count) => (weather.losing = count),
    refuse: (on) => (weather.refusing = on),
    silence: () => (weather.generation += 1),
    copyWrites: (on) => (weather.copying = on),
    copiedWrites: () => weather.copies.length,
    deliverCopies: async () => {
      const copies = weather.copies.splice(0)
      await sendAll(weather.port, copies)
      return copies.length
    },
    lostReplies: () => weather.lost,
    stop: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function join(client: Socket, weather: Weather): Socket[] {
  client.on('error', () => {})
  if (weather.refusing) return [client.destroy()]
  const { generation } = weather
  const redis = connect(weather.port, '127.0.0.1').on('error', () => {})
  const isSilent = (): boolean => generation !== weather.generation
  const reader = new CommandReader()
  client.on(
    'data',
    later(weather, (words) => {
      if (isSilent()) return
      redis.write(words)
      const commands = reader.commandsIn(words)
      if (weather.copying) weather.copies.push(...commands.filter(isSave))
    }),
  )
  const answer = later(weather, (reply) => void (isSilent() || client.write(reply)))
  redis.on('data', (reply) => {
    if (weather.losing === 0 || isSilent()) return answer(reply)
    weather.losing -= 1
    weather.lost += 1
    client.destroy()
  })
  client.once('close', () => redis.destroy())
  redis.once('close', () => client.destroy())
  return [client, redis]
}

function isSave([name = '', ...words]: readonly string[]): boolean {
  return /^(?:set|eval|evalsha)$/i.test(name) && words.some((word) => word.includes(':authorization:'))
}

async function sendAll(port: number, commands: readonly (readonly string[])[]): Promise<void> {
  const redis = new Redis(port, '127.0.0.1')
  // One that is refused has no effect, which is what is hoped for.
  await Promise.allSettled(commands.map(([name = '', ...words]) => redis.call(name, ...words)))
  redis.disconnect()
}

/** Passes data on after the delay, in order even while the delay changes. */
function later(weather: Weather, pass: (data: Buffer) => void): (data: Buffer) => void {
  const waiting: { readonly data: Buffer; readonly at: number }[] = []
  const deliver = (): void => {
    while (waiting[0] !== undefined && waiting[0].at <= performance.now()) {
      pass(waiting[0].data)
      waiting.shift()
    }
    if (waiting[0] !== undefined) setTimeout(deliver, Math.ceil(waiting[0].at - performance.now()))
  }
  return (data) => {
    waiting.push({ data, at: performance.now() + weather.delay })
    // Else the one before it delivers it, or the next timer.
    if (waiting.length === 1) deliver()
  }
}
