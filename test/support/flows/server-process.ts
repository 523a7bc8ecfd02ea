import express from 'express'
import {
  createAuthorizationServer,
  implicit,
  type AuthorizationServerOptions,
  type ClientRegistration,
} from '../../../lib/index'
import { dpop, type DpopOptions } from '../../../lib/paths/dpop'
import { deviceAuthorization } from '../../../lib/paths/devices'
import { jwtBearer, type TrustedIssuer } from '../../../lib/paths/grants'
import { legacyTokens } from '../../../lib/paths/legacy-tokens'
import { pushedAuthorizationRequests } from '../../../lib/paths/pushed-requests'
import { listenAndPrint } from '../listen-and-print'
import { storeOn, type StorePlan } from '../store-plan'
import { mortalStore } from '../stores/mortal-store'
import { canonicalOptions, mountAll, type Mount, withoutLimits } from './application'
import { bent, everyClient, photoBook, photoFrame, type ClientApplication } from './clients'

/** What the program is told by its only argument. */
export interface ServerPlan {
  readonly store: StorePlan
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
  /**
   * Whether it lists the authorizations of owners, and ends them below `/operator`. A request with the header
   * `X-Approved` then needs no page.
   */
  readonly authorizations?: boolean
  readonly rememberConsent?: boolean
  /** Whether clients push their requests. A request with the header `X-Approved` then needs no page. */
  readonly pushedRequests?: boolean
  /** What its clients may prove by DPoP. Default: nothing. */
  readonly dpop?: DpopOptions
  /** The secret of device authorization. Default: no devices. */
  readonly deviceSecret?: string
  /** Whether 40 hexadecimal digits are a refresh token of another server, of alice for Photo Book. */
  readonly legacyTokens?: boolean
  /** Whether it dies at the step that `/die/:step/:moment` names. */
  readonly isMortal?: boolean
}

/** Photo Frame has a secret that all processes know, so it asks about tokens, too. */
const askingFrame = bent(photoFrame, { may_introspect: true })
const clientsWith = (frame: ClientApplication): readonly ClientRegistration[] =>
  everyClient.map((client) => (client === photoFrame ? frame : client).registration)
const usualClients = clientsWith(askingFrame)

const vouching = bent(askingFrame, {
  grant_types: [...photoFrame.registration.grant_types, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
})

/**
 * The canonical host application as a program. It prints its port, and ends with the process that started it. Generated
 * secrets differ from process to process, so it is for clients without one or with one that was chosen.
 */
function serve({
  store: place,
  refreshTokenGrace = 30,
  // A machine under load is not a store in trouble.
  storeDeadline = 10,
  ahead = 0,
  issuers,
  clients = usualClients,
  maximumClients,
  authorizations = false,
  rememberConsent = false,
  pushedRequests = false,
  dpop: proving,
  deviceSecret,
  legacyTokens: takesLegacy = false,
  isMortal = false,
}: ServerPlan): void {
  const clock = () => Date.now() + ahead * 1000
  const plain = storeOn(place, clock)
  const { mortal, dieAt } = mortalStore(plain)
  const store = isMortal ? mortal : plain
  const options = { store, clock, storeDeadline, ...withoutLimits }
  const lifetimes = { refreshTokenGrace }
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    ...options,
    lifetimes,
    clients,
    ...(issuers && { clients: clientsWith(vouching) }),
    ...(maximumClients === undefined ? {} : { dynamicRegistration: { maximumClients } }),
    ...(authorizations ? optionsForOwners : {}),
    rememberConsent,
    ...(pushedRequests && { skipConsent }),
    plugins: [
      ...(issuers ? [assertionsOf(issuers)] : []),
      ...(authorizations ? [implicit()] : []),
      ...(pushedRequests ? [pushedAuthorizationRequests({ limits: { client: false, network: false } })] : []),
      ...(proving ? [dpop({ baseUrl: canonicalOptions.issuer, ...proving })] : []),
      ...(deviceSecret === undefined
        ? []
        : [deviceAuthorization({ secret: deviceSecret, requests: false, guesses: false })]),
      ...(takesLegacy ? [legacyGrants()] : []),
    ],
  })
  const app = express()
  app.get('/die/:step/:moment', ({ params: { step, moment } }, response) => {
    dieAt(Number(step), moment === 'after' ? 'after' : 'before')
    response.end()
  })
  mountAll(app, oauth)
  if (authorizations) mountOperator(app, oauth)
  listenAndPrint(app)
}

const mountOperator: Mount = (app, { authorizations }) => {
  app.get(
    '/operator/:owner',
    async ({ params }, response) => void response.json(await authorizations.list(params.owner)),
  )
  app.post('/operator/:owner/end', async ({ params }, response) => {
    response.json(await authorizations.revokeAll(params.owner))
  })
  app.post('/operator/:owner/end/:client', async ({ params }, response) => {
    response.json(await authorizations.revoke(params.owner, params.client))
  })
  app.post('/operator/clients/:client', async ({ params }, response) => {
    await authorizations.revokeClient(params.client)
    response.end()
  })
}

const skipConsent: NonNullable<AuthorizationServerOptions['skipConsent']> = (request) =>
  request.get('X-Approved') !== undefined

const optionsForOwners = {
  authorizations: true,
  skipConsent,
} satisfies Partial<AuthorizationServerOptions>

function legacyGrants() {
  const expiresAt = Math.floor(Date.now() / 1000) + 3600
  const { client_id: clientId } = photoBook.registration
  const grant = { clientId, subject: 'alice', scope: ['photos:read'], expiresAt }
  const form = /[0-9a-f]{40}/
  return legacyTokens({ form, until: expiresAt, findAccess: () => undefined, findRefresh: () => grant })
}

const assertionsOf = (issuers: readonly TrustedIssuer[]) =>
  jwtBearer({ issuers, audience: canonicalOptions.issuer, resourceOwner: () => 'alice' })

serve(JSON.parse(process.argv[2] ?? '{}'))
