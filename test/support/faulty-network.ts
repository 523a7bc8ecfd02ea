import { connect, createServer, type Socket } from 'node:net'
import { CommandReader } from './command-reader'
import { LateWrites } from './late-writes'
import { listening } from './listening'

export type Direction = 'commands' | 'replies'

/** Which writes come late, and how. */
export interface Stragglers {
  /** Whether this one does. */
  readonly isMeant: () => boolean
  /** By how many milliseconds. */
  readonly lateness: () => number
  /**
   * Whether the late one is all that Redis ever sees of what its client sent: its connection breaks. Otherwise the write
   * passes, and the late one is a copy.
   */
  readonly withheld: boolean
}

interface Weather {
  /** Only commands of Redis can be told from each other. */
  readonly isOfRedis: boolean
  port: number
  readonly delays: Record<Direction, number>
  losing: number
  refusing: boolean
  stragglers: Stragglers | undefined
  /** Connections of an earlier generation are silent. */
  generation: number
}

export async function startFaultyNetwork(port: number, { isOfRedis = true } = {}) {
  const calm = { losing: 0, refusing: false, stragglers: undefined, generation: 0 }
  const weather: Weather = { isOfRedis, port, ...calm, delays: { commands: 0, replies: 0 } }
  const late = new LateWrites(() => weather.port)
  // The way to Redis ends with its client.
  const server = createServer((client) => join(client, weather, late))
  const { port: own, close } = await listening(server)
  return {
    url: `redis://127.0.0.1:${own}`,
    /** Where connections that come from now on lead. */
    leadTo: (next: number) => (weather.port = next),
    /** How long each piece of data takes in one direction. */
    delayOneWay: (direction: Direction, milliseconds: number) => (weather.delays[direction] = milliseconds),
    /** Breaks the connections of this many replies, from the next one on: commands arrive, replies do not. */
    loseReplies: (count: number) => (weather.losing = count),
    /** Breaks each new connection at once. */
    refuse: (on: boolean) => (weather.refusing = on),
    /** From now on nothing passes the connections that are open, and neither end learns of it. */
    silence: () => (weather.generation += 1),
    /** From now on some writes come late; undefined ends it for those that follow. */
    straggle: (stragglers: Stragglers | undefined) => (weather.stragglers = stragglers),
    /** How many writes came late, or will. */
    stragglers: () => late.count,
    /** Resolves when each write that is late has come. */
    allArrived: () => late.allArrived(),
    stop: async () => {
      late.close()
      await close()
    },
  }
}

/** The way to a database, with everything that can happen on it. */
export type FaultyNetwork = Awaited<ReturnType<typeof startFaultyNetwork>>

function join(client: Socket, weather: Weather, late: LateWrites): void {
  client.on('error', () => {})
  if (weather.refusing) return void client.destroy()
  const { generation } = weather
  const redis = connect(weather.port, '127.0.0.1').on('error', () => {})
  const isSilent = (): boolean => generation !== weather.generation
  const reader = new CommandReader()
  client.on(
    'data',
    later(weather, 'commands', (words) => {
      if (isSilent()) return
      const commands = weather.isOfRedis ? reader.commandsIn(words) : []
      if (straggles(weather, commands, late)) client.destroy()
      else redis.write(words)
    }),
  )
  const answer = later(weather, 'replies', (reply) => void (isSilent() || client.write(reply)))
  redis.on('data', (reply) => {
    if (weather.losing === 0 || isSilent()) return answer(reply)
    weather.losing -= 1
    client.destroy()
  })
  client.once('close', () => redis.destroy())
  redis.once('close', () => client.destroy())
}

/** Sends the stragglers among the commands later. Whether they do not pass now. */
function straggles(
  { stragglers }: Weather,
  commands: readonly (readonly string[])[],
  late: LateWrites,
): boolean {
  if (stragglers === undefined) return false
  const meant = commands.filter((command) => isWrite(command) && stragglers.isMeant())
  for (const command of meant) late.send(command, stragglers.lateness())
  return meant.length > 0 && stragglers.withheld
}

/** A write of an authorization, an owner or a registration, its removal included. */
function isWrite([name = '', ...words]: readonly string[]): boolean {
  return (
    /^(?:set|del|eval|evalsha)$/i.test(name) &&
    words.some((word) => /:(?:authorization|owner|client):/.test(word))
  )
}

/** Passes data on after the delay, in order even while the delay changes. */
function later(weather: Weather, direction: Direction, pass: (data: Buffer) => void): (data: Buffer) => void {
  const waiting: { readonly data: Buffer; readonly at: number }[] = []
  const deliver = (): void => {
    while (waiting[0] !== undefined && waiting[0].at <= performance.now()) {
      pass(waiting[0].data)
      waiting.shift()
    }
    if (waiting[0] !== undefined) setTimeout(deliver, Math.ceil(waiting[0].at - performance.now()))
  }
  return (data) => {
    waiting.push({ data, at: performance.now() + weather.delays[direction] })
    // Else the one before it delivers it, or the next timer.
    if (waiting.length === 1) deliver()
  }
}
