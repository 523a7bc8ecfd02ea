import express from 'express'
import {
  createAuthorizationServer,
  type AuthorizationServerOptions,
  type ClientRegistration,
} from '../../../lib/index'
import {
  jwtAccessTokens,
  manageSigningKeys,
  signingKeys,
  type SigningAlgorithm,
} from '../../../lib/paths/jwt'
import { canonicalOptions, withoutLimits } from '../flows/application'
import { mountResources, printApi, withResources } from '../flows/resources'
import { listenAndPrint } from '../listen-and-print'
import { storeOn, type StorePlan } from '../store-plan'

/** How an issuer signs. */
export interface JwtPlan {
  readonly secret: string
  /** A server for each of them: the first one at the root, the others below their names. */
  readonly algorithms: readonly SigningAlgorithm[]
  readonly rotateAfter: number
}

/** What an issuer of access tokens is told by its only argument. */
export interface IssuerPlan {
  readonly issuer: string
  readonly store: StorePlan
  readonly clients: readonly ClientRegistration[]
  /** By how many seconds its clock is ahead of the machine's. */
  readonly ahead: number
  /** Seconds that access tokens live at most. */
  readonly accessToken: number
  readonly jwts: JwtPlan
}

/**
 * An authorization server with three resources as a program. Its guards stand before the resources, one guard that trusts
 * signatures at `/signed`, and what its operator does below `/operator`.
 */
function serve({ issuer, store: place, clients, ahead, accessToken, jwts }: IssuerPlan): void {
  const time = { ahead }
  const clock = () => Date.now() + time.ahead * 1000
  const store = storeOn(place, clock)
  const app = express()
  const options: AuthorizationServerOptions = {
    ...canonicalOptions,
    ...withoutLimits,
    ...withResources({ clients }),
    issuer,
    store,
    clock,
    // A machine under load is not a store in trouble.
    storeDeadline: 10,
    lifetimes: { accessToken, authorizationCode: 600, refreshTokenGrace: 300 },
  }
  app.post('/operator/ahead/:seconds', (request, response) => {
    time.ahead = Number(request.params.seconds)
    response.end()
  })
  mountJwts(jwts)
  listenAndPrint(app)

  function mountJwts({ secret, algorithms, rotateAfter }: JwtPlan): void {
    const secrets = [secret]
    const keys = signingKeys({ secrets, algorithms, rotateAfter })
    const serverFor = (algorithm: SigningAlgorithm) =>
      createAuthorizationServer({
        ...options,
        plugins: [keys, jwtAccessTokens({ keys, algorithm }), ...(options.plugins ?? [])],
      })
    const [usual, ...others] = algorithms.map((algorithm) => ({ algorithm, oauth: serverFor(algorithm) }))
    if (usual === undefined) throw new Error('An issuer of JWTs has an algorithm.')
    mountResources(app, usual.oauth)
    for (const { algorithm, oauth } of others) app.use(`/${algorithm}`, oauth.router())
    const guard = usual.oauth.bearerGuard('photos:print', { resource: printApi, verify: 'signature' })
    app.get('/signed', guard, (_request, response) => void response.end())

    const operator = manageSigningKeys({ issuer, store, secrets, clock })
    app.get('/operator/keys', async (_request, response) => void response.json(await operator.list()))
    app.post('/operator/rotate', async (_request, response) => void response.json(await operator.rotate()))
    app.post('/operator/retire/:kid', async ({ params }, response) => {
      response.json(await operator.retire(params.kid))
    })
  }
}

serve(JSON.parse(process.argv[2] ?? '{}'))
