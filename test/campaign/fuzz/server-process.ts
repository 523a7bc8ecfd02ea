import type { Server } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { inspect, promisify } from 'node:util'
import express from 'express'
import {
  createAuthorizationServer,
  jwtBearer,
  mac,
  memoryStore,
  password,
  tokenExchange,
} from '../../../lib/index'
import { audience } from '../../support/assertions/jwt'
import { canonicalOptions, mountAll } from '../../support/flows/application'
import { wonderland } from '../../support/flows/password'
import { anyOwner } from '../../support/flows/token-exchange'
import { storeOn } from '../../support/redis-plan'
import { limits } from './limits'
import type { FuzzPlan } from './parties'
import { planted } from './planted-faults'

/** What the process says of itself, in bytes and numbers. */
export interface Health {
  readonly memory: number
  readonly handles: number
  /** What must never happen in a server, in words; told once. */
  readonly complaints: readonly string[]
}

/** A host application with every flow of the suite, which counts what goes wrong in its process. */
function serve({ clients, issuers, redis, fault }: FuzzPlan): void {
  const complaints = watchProcess()
  let ahead = 0
  const clock = () => Date.now() + ahead
  const store =
    redis === undefined
      ? memoryStore({ clock, maximumRecords: 1_000_000 })
      : storeOn(redis, { prefix: 'fuzz:', clock })
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    ...limits.server,
    clients,
    store,
    clock,
    // A machine under load is not a store in trouble.
    storeDeadline: 10,
    lifetimes: { refreshTokenGrace: 0 },
    // A header without a value is nobody: what it holds is for the host to see, and not for the fuzzer.
    resourceOwner: (request) => request.get('X-Owner') || undefined,
    tokenTypes: [mac({ hosts: ['api.example.com'] })],
    grantTypes: [
      password({ verify: (name, word) => isAlice(name, word) && 'alice', limits: limits.password }),
      jwtBearer({ issuers, audience, resourceOwner: () => 'alice' }),
      tokenExchange({ policy: anyOwner }),
    ],
  })
  oauth.events.on('failure', ({ reason, cause }) => {
    if (cause !== undefined) complaints.push(`failure ${reason}: ${inspect(cause)}`)
  })
  const app = express()
  if (fault !== undefined) app.use(planted[fault])
  mountAll(app, oauth)
  const server = app.listen(0, '127.0.0.1', () => process.send?.({ port: portOf(server.address()) }))
  process.on('message', (asked: { readonly advance: number }) => {
    ahead += asked.advance * 1000
    void connectionsGone(server).then(() => process.send?.(healthOf(complaints.splice(0))))
  })
  process.on('disconnect', () => process.exit())
}

const isAlice = (name: string, word: string) => name === wonderland.username && word === wonderland.password

function watchProcess(): string[] {
  const complaints: string[] = []
  process.on('uncaughtException', (error) => complaints.push(`uncaught exception: ${error.message}`))
  process.on('unhandledRejection', (error) => complaints.push(`unhandled rejection: ${String(error)}`))
  process.on('warning', ({ name, code, message }: Error & { readonly code?: unknown }) => {
    // The fuzzer may name any host: that one warns of it is right.
    if (code !== 'EAS_ISSUER_HOST') complaints.push(`warning ${name}: ${message}`)
  })
  return complaints
}

/** The far side has closed them all: what is still open is counted as left behind, once this side had its time, too. */
async function connectionsGone(server: Server): Promise<void> {
  const giveUpAt = performance.now() + 5000
  const getConnections = promisify(server.getConnections.bind(server))
  while ((await getConnections()) > 0 && performance.now() < giveUpAt) await setTimeout(5)
}

function healthOf(complaints: readonly string[]): Health {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return { memory: heapUsed + arrayBuffers, handles: process.getActiveResourcesInfo().length, complaints }
}

function portOf(address: ReturnType<ReturnType<express.Express['listen']>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return address.port
}

serve(JSON.parse(process.argv[2] ?? '{}'))
