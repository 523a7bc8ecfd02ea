import express from 'express'
import {
  createAuthorizationServer,
  jwtBearer,
  type ClientRegistration,
  type TrustedIssuer,
} from '../../../lib/index'
import { storeOn, type RedisPlan } from '../redis-plan'
import { canonicalOptions, mountAll, withoutLimits } from './application'
import { bent, everyClient, photoFrame, type ClientApplication } from './clients'

/** What the program is told by its only argument. */
export interface ServerPlan {
  readonly redis: RedisPlan
  readonly prefix: string
  readonly refreshTokenGrace?: number
  readonly storeDeadline?: number
  /** By how many seconds its clock is ahead. */
  readonly ahead?: number
  /** Its clients, in place of the usual ones. */
  readonly clients?: readonly ClientRegistration[]
  /** Whose assertions it takes, from Photo Frame. */
  readonly issuers?: readonly TrustedIssuer[]
  /** How many clients may register themselves. Default: no registration. */
  readonly maximumClients?: number
}

/** Photo Frame has a secret that all processes know, so it asks about tokens, too. */
const askingFrame = bent(photoFrame, { may_introspect: true })
const clientsWith = (frame: ClientApplication): readonly ClientRegistration[] =>
  everyClient.map((client) => (client === photoFrame ? frame : client).registration)
const usualClients = clientsWith(askingFrame)

/**
 * The canonical host application as a program. It tells its port, and ends when whoever started it is gone. Generated
 * secrets differ from process to process, so it is for clients without one or with one that was chosen.
 */
function serve({
  redis,
  prefix,
  refreshTokenGrace = 30,
  // A machine under load is not a store in trouble.
  storeDeadline = 10,
  ahead = 0,
  issuers,
  clients = usualClients,
  maximumClients,
}: ServerPlan): void {
  const clock = () => Date.now() + ahead * 1000
  const store = storeOn(redis, { prefix, clock })
  const options = { store, clock, refreshTokenGrace, storeDeadline, ...withoutLimits }
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    ...options,
    clients,
    ...(issuers && optionsForAssertions(issuers)),
    ...(maximumClients === undefined ? {} : { dynamicRegistration: { maximumClients } }),
  })
  const app = express()
  mountAll(app, oauth)
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') process.stdout.write(`port ${address.port}\n`)
  })
  // A client that sends just as a connection is closed for being idle would see a reset, with nobody at fault.
  server.keepAliveTimeout = 0
  process.stdin.on('data', tellMemory).on('close', () => process.exit())
}

function tellMemory(): void {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ rss, heapUsed })}\n`)
}

function optionsForAssertions(issuers: readonly TrustedIssuer[]) {
  const bearer = jwtBearer({ issuers, audience: canonicalOptions.issuer, resourceOwner: () => 'alice' })
  const vouching = bent(askingFrame, { grant_types: [...photoFrame.registration.grant_types, bearer.name] })
  return { grantTypes: [bearer], clients: clientsWith(vouching) }
}

serve(JSON.parse(process.argv[2] ?? '{}'))
