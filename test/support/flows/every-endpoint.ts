import { createHash, randomUUID } from 'node:crypto'
import type { Response } from 'supertest'
import { type AuthorizationServer, generateClientSecret, implicit } from '../../../lib/index'
import { password, tokenExchange } from '../../../lib/paths/grants'
import { recordEvents, type RecordedEvent } from '../events'
import { bent, nightlyReport, photoBook, photoPrint, type ClientApplication } from './clients'
import { consentFormOf } from './consent-form'
import { authorizationRequest, basic, type Fields } from './flow'
import { setStage } from '../flows/stage'
import { codeVerifier } from './proof-key'
import { codeOf } from './redirection'
import { anyOwner, exchangeOf, tokenExchangeName } from './token-exchange'
import { tokensOf } from './tokens'

const old = generateClientSecret()
const wrongSecret = `wrong ${randomUUID()}`
const ownersPassword = `password ${randomUUID()}`
const wrongPassword = `guess ${randomUUID()}`

const book = bent(photoBook, {
  grant_types: ['authorization_code', 'refresh_token', 'implicit', 'password'],
  response_types: ['code', 'token'],
})
const print = bent(photoPrint, {
  client_secret_hashes: [old.client_secret_hash, ...photoPrint.registration.client_secret_hashes],
})
const report = bent(nightlyReport, {
  grant_types: ['client_credentials', tokenExchangeName],
  may_introspect: true,
})

const brief = bent(photoPrint, { client_id: 'brief', grant_lifetime: 30 })

/** Every event of a run, and every secret that no event may contain. */
export interface EndpointRun {
  readonly recorded: readonly RecordedEvent[]
  readonly secrets: ReadonlySet<string>
}

/**
 * One story through every endpoint, with each event in it, and refusals of every kind.
 *
 * @param prepare runs before the first request.
 */
export async function useEveryEndpoint(
  prepare: (oauth: AuthorizationServer) => void = () => {},
): Promise<EndpointRun> {
  let goesOn = true
  const { oauth, flow, store, clock } = setStage({
    stillAllowed: () => goesOn,
    clients: [book, print, report, brief].map(({ registration }) => registration),
    plugins: [
      password({
        verify: (_name, given) => (given === ownersPassword ? 'alice' : undefined),
        limits: { username: { attempts: 2 } },
      }),
      tokenExchange({ policy: anyOwner }),
      implicit(),
    ],
  })
  const recorded = recordEvents(oauth.events)
  prepare(oauth)
  const state = randomUUID()
  const secrets = new Set([
    codeVerifier,
    state,
    wrongSecret,
    ownersPassword,
    wrongPassword,
    old.client_secret,
    print.secret ?? '',
    report.secret ?? '',
    basic(print.registration.client_id, print.secret ?? '').slice(6),
  ])
  const seen = (response: Response): Response => {
    const texts = [response.text, response.get('Location') ?? '']
    for (const [credential] of texts.join(' ').matchAll(/\b(?:at|rt|ac|ar)_[\w-]{65,82}/g))
      secrets.add(credential)
    return response
  }
  const page = async (client: ClientApplication, bend: Fields = {}) =>
    seen(await flow.ask({ ...authorizationRequest(client), state, ...bend }, 'alice'))
  const approved = async (client: ClientApplication, bend: Fields = {}) =>
    codeOf(seen(await flow.decide(await page(client, bend), 'approve', 'alice')))
  const token = async (client: ClientApplication, fields: Fields) => seen(await flow.request(client, fields))

  // The main way, by a form that is sent twice; twice refreshed, and the token that was rotated out first.
  const form = await page(book)
  const press = async () => codeOf(seen(await flow.decide(form, 'approve', 'alice')))
  const [code] = [await press(), await press()]
  const first = tokensOf(seen(await flow.redeem(book, code)))
  await flow.photos(first.accessToken)
  const second = tokensOf(seen(await flow.refresh(book, first.refreshToken)))
  seen(await flow.refresh(book, first.refreshToken))
  await flow.refresh(book, second.refreshToken, { scope: 'reports:write' })
  seen(await flow.refresh(book, second.refreshToken))
  await flow.refresh(print, second.refreshToken)
  await flow.refresh(book, first.refreshToken)
  await flow.photos(second.accessToken)

  // A code with a wrong verifier, by another client, twice.
  const replayed = await approved(print)
  await flow.redeem(print, replayed, { code_verifier: 'x'.repeat(43) })
  await flow.redeem(book, replayed)
  seen(await flow.redeem(print, replayed))
  await flow.redeem(print, replayed)

  // Without a code, and refused by the owner.
  seen(await flow.decide(await page(book, { response_type: 'token' }), 'approve', 'alice'))
  const asked = await page(book)
  const { fields } = consentFormOf(asked, '/authorize')
  await flow.submit('/authorize', { ...fields, decision: 'perhaps' }, 'alice')
  await flow.decide(asked, 'approve', 'mallory')
  await flow.decide(asked, 'deny', 'alice')
  await flow.decide(asked, 'approve', 'alice')
  await page(book, { scope: 'nothing' })
  await page(book, { redirect_uri: 'https://evil.example/' })

  // Other grants, and every way to be refused.
  const credentials = { grant_type: 'client_credentials', scope: 'photos:read' }
  const owners = { grant_type: 'password', username: 'alice', scope: 'photos:read' }
  const own = tokensOf(await token(report, credentials))
  const lent = tokensOf(await token(book, { ...owners, password: ownersPassword }))
  await token(report, exchangeOf(lent.accessToken))
  await token(report, exchangeOf(code))
  for (let guess = 0; guess < 3; guess++) await token(book, { ...owners, password: wrongPassword })
  await token({ ...print, secret: wrongSecret }, credentials)
  await token({ ...print, secret: old.client_secret }, credentials)
  await flow.submit('/token?client_secret=x', credentials)

  // A guard, introspection and revocation.
  const reader = tokensOf(seen(await flow.redeem(book, await approved(book, { scope: 'photos:print' }))))
  await flow.photos(reader.accessToken)
  await flow.photos(code)
  await flow.photos(ownersPassword)
  await flow.introspect(report, reader.accessToken)
  await flow.introspect(print, reader.accessToken)
  await flow.revoke(book, reader.refreshToken)
  await flow.revoke(book, reader.refreshToken)

  // A code that outlives its grant.
  const late = await approved(brief)
  clock.advance(30)
  await flow.redeem(brief, late)
  await flow.revoke(book, '')
  const { authorizationId } = (await flow.photos(own.accessToken)).body
  await oauth.revoke(String(authorizationId))

  // An authorization that the host ends at its refresh.
  const ended = tokensOf(seen(await flow.redeem(print, await approved(print))))
  goesOn = false
  await flow.refresh(print, ended.refreshToken)

  // What breaks here.
  store.begin('fails', 'read')
  await flow.photos(lent.accessToken)
  store.recover()
  return { recorded, secrets }
}

/** The part of a text that must not be read: of a credential what follows its kind and the id, which is no secret. */
const secretPartOf = (secret: string) => (/^(?:at|rt|ac|ar)_/.test(secret) ? secret.slice(3 + 24) : secret)

/** Which of the secrets can be read in a text: at their beginning or from their middle on, or in base64. */
export function secretsIn(text: string, secrets: Iterable<string>): readonly string[] {
  return [...secrets].filter((secret) => {
    const part = secretPartOf(secret)
    if (part.length <= 10) throw new Error('Too short to tell.')
    const starts = [0, Math.floor(part.length / 2)]
    return (
      starts.some((start) => text.includes(part.slice(start, start + 12))) ||
      text.includes(Buffer.from(secret).toString('base64'))
    )
  })
}

/** What events show of a credential. */
export const credentialFingerprint = (credential: string): string =>
  createHash('sha256').update(credential).digest('hex').slice(0, 8)
