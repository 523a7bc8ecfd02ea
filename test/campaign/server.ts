import type { Server } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { inspect, promisify } from 'node:util'
import express from 'express'
import { createAuthorizationServer, memoryStore, type ClientRegistration } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { jwtBearer, password, tokenExchange, type TrustedIssuer } from '../../lib/paths/grants'
import { mac } from '../../lib/paths/mac'
import { audience } from '../support/assertions/jwt'
import { canonicalOptions, mountAll, withoutLimits } from '../support/flows/application'
import { deviceSecret } from '../support/flows/device-stage'
import { wonderland } from '../support/flows/password'
import { anyOwner } from '../support/flows/token-exchange'
import { storeOn, type StorePlan } from '../support/store-plan'
import { wrongAnswers, type WrongAnswer } from './planted/answers'
import { plantedInto } from './planted/stores'

/** What the process is told by its only argument. */
export interface ServerPlan {
  readonly clients: readonly ClientRegistration[]
  readonly issuers: readonly TrustedIssuer[]
  /** Memory, where it is left out. */
  readonly store?: StorePlan
  /** Seconds. */
  readonly refreshTokenGrace: number
  readonly storeDeadline: number
  /** By how many seconds its clock is ahead. */
  readonly ahead?: number
  /** Mistakes for the judge to find: one of its store, and one of its answers. */
  readonly wrongStore?: string
  readonly wrongAnswer?: WrongAnswer
}

/** What the process says of itself, in bytes and numbers. */
export interface Health {
  readonly memory: number
  readonly handles: number
  /** What must never happen in a server, in words; told once. */
  readonly complaints: readonly string[]
}

/** What the process is asked: another time, or its health. */
export interface Asked {
  readonly ahead?: number
}

/** A host application with every flow of the suite, which notes what goes wrong in its process. */
function serve(plan: ServerPlan): void {
  const { clients, issuers, store: place, refreshTokenGrace, storeDeadline, wrongAnswer, wrongStore } = plan
  const complaints = watchProcess()
  let { ahead = 0 } = plan
  const clock = () => Date.now() + ahead * 1000
  const sound =
    place === undefined ? memoryStore({ clock, maximumRecords: 1_000_000 }) : storeOn(place, clock)
  const store = wrongStore === undefined ? sound : plantedInto(sound, wrongStore)
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    explainRefusals: false,
    limits: { ...withoutLimits.limits, clientAuthentication: false },
    clients,
    store,
    clock,
    storeDeadline,
    // What takes time here is the machine.
    lifetimes: { refreshTokenGrace, authorizationCode: 600 },
    // A header without a value is nobody: what it holds is for the host to see.
    resourceOwner: (request) => request.get('X-Owner') || undefined,
    dynamicRegistration: { maximumClients: 100_000, grantTypes: ['client_credentials'] },
    plugins: [
      mac({ hosts: ['api.example.com'] }),
      password({
        verify: (name, word) => isAlice(name, word) && 'alice',
        limits: { username: false, address: false, client: false },
      }),
      jwtBearer({ issuers, audience, resourceOwner: () => 'alice' }),
      tokenExchange({ policy: anyOwner }),
      deviceAuthorization({ secret: deviceSecret, requests: false, guesses: false }),
    ],
  })
  oauth.events.on('failure', ({ reason, cause }) => {
    if (cause !== undefined) complaints.push(`failure ${reason}: ${inspect(cause)}`)
  })
  const app = express()
  if (wrongAnswer !== undefined) app.use(wrongAnswers[wrongAnswer])
  mountAll(app, oauth)
  const server = app.listen(0, '127.0.0.1', () => process.send?.({ port: portOf(server) }))
  // A client that sends just as a connection is closed for being idle would see a reset without a fault.
  server.keepAliveTimeout = 0
  process.on('message', (asked: Asked) => {
    if (asked.ahead === undefined)
      void connectionsGone(server).then(() => process.send?.(healthOf(complaints.splice(0))))
    else ahead = asked.ahead
  })
  process.on('disconnect', () => process.exit())
}

const isAlice = (name: string, word: string) => name === wonderland.username && word === wonderland.password

function watchProcess(): string[] {
  const complaints: string[] = []
  process.on('uncaughtException', (error) => complaints.push(`uncaught exception: ${error.message}`))
  process.on('unhandledRejection', (error) => complaints.push(`unhandled rejection: ${String(error)}`))
  process.on('warning', ({ name, code, message }: Error & { readonly code?: unknown }) => {
    // A hostile request may name any host, and a fault sets the clock: that one warns of it is right.
    if (!['EAS_ISSUER_HOST', 'EAS_REDIS_CLOCK', 'EAS_POSTGRES_CLOCK'].includes(String(code)))
      complaints.push(`warning ${name}: ${message}`)
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

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return address.port
}

serve(JSON.parse(process.argv[2] ?? '{}'))
