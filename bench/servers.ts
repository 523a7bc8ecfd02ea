import { peers } from './peers'
import { application } from './stories/application'
import { floor, unguarded } from './stories/floor'
import { jwt } from './stories/jwt'
import { approvedAlready, ours } from './stories/ours'
import type { Stories } from './story'

interface Measured {
  readonly name: string
  /** In `targets/`. */
  readonly program: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stories: Stories
  readonly role: 'floor' | 'ours' | 'peer'
}

/** One server that is measured: a program, and what it runs on. */
export interface Server extends Measured {
  /** What differs from the server of the same program that is held against others. */
  readonly variant?: 'on createServer' | 'not gathered'
}

/** The name of the same server on `createServer`. */
export function onCreateServer(name: string): string {
  return `${name} on createServer`
}

/** The name of the same server whose commands to Redis go out one by one. */
export function notGathered(name: string): string {
  return `${name}, not gathered`
}

/** On Node's own server, and with commands to Redis in packets. */
function plain(server: Measured): Server {
  return { ...server, environment: { ...server.environment, BENCH_GATHER: 'yes' } }
}

function fast(server: Measured): Server {
  const { environment } = plain(server)
  const name = onCreateServer(server.name)
  return {
    ...server,
    name,
    environment: { ...environment, BENCH_SERVER: 'fast' },
    variant: 'on createServer',
  }
}

function alone(server: Measured): Server {
  return { ...server, name: notGathered(server.name), variant: 'not gathered' }
}

const onBoth = (server: Measured) => [plain(server), fast(server)]
const onAll = (server: Measured) => [plain(server), fast(server), alone(server)]

const { guard, clientCredentials } = ours
const { bareRoute: _, ...overRedis } = floor
const node = { name: 'node:http', program: 'node', role: 'floor' } as const
const express = { name: 'Express', program: 'express', role: 'floor' } as const

/** Every server has its commands to Redis gathered unless its name says otherwise, because the suite gathers its own. */
export const servers: readonly Server[] = [
  plain({ ...node, stories: floor }),
  alone({ ...node, stories: overRedis }),
  ...onBoth({ ...express, stories: floor }),
  alone({ ...express, stories: overRedis }),
  ...onAll({ name: 'application', program: 'application', stories: application, role: 'floor' }),
  ...onBoth({ name: 'suite', program: 'ours', stories: ours, role: 'ours' }),
  ...onBoth({
    name: 'suite, approved already',
    program: 'ours',
    environment: { BENCH_APPROVED: 'yes' },
    stories: approvedAlready,
    role: 'ours',
  }),
  ...onBoth({ name: 'suite, unguarded route', program: 'ours', stories: unguarded, role: 'floor' }),
  ...onBoth({
    name: 'suite with cache',
    program: 'ours',
    environment: { BENCH_CACHE: '10000' },
    stories: { guard, clientCredentials },
    role: 'ours',
  }),
  ...onBoth({ name: 'suite, JWT remembered', program: 'ours-jwt', stories: jwt, role: 'ours' }),
  ...onBoth({
    name: 'suite, JWT verified each time',
    program: 'ours-jwt',
    environment: { BENCH_VERIFIED: 'each time' },
    stories: jwt,
    role: 'ours',
  }),
  ...Object.entries(peers).flatMap(([name, stories]) => {
    const peer = { name, program: name, stories, role: 'peer' } as const
    return asksRedis(stories) ? onAll(peer) : onBoth(peer)
  }),
]

function asksRedis({ guardJwt }: Stories): boolean {
  return guardJwt === undefined
}
