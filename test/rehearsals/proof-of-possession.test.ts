import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import express from 'express'
import type { Response } from 'supertest'
import { createBearerGuard, memoryStore } from 'express-authorization-server'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { Flow, redemption } from '../support/flows/flow'
import { proofOfPossession, thumbprintOf } from './proof-of-possession'

const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoBook, report].map(({ registration }) => registration)
const { client_id } = photoBook.registration
const issuer = 'http://localhost'
const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A client with a key, which sends a proof with each request, and again with a nonce that the server asks for. */
class Prover {
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly jwk = this.keys.publicKey.export({ format: 'jwk' })
  nonce: string | undefined

  constructor(private readonly now: () => number) {}

  proof(htm: string, path: string, claims: object = {}): string {
    const { kty, crv, x, y } = this.jwk
    const own = {
      htm,
      htu: issuer + path,
      iat: Math.floor(this.now() / 1000),
      jti: randomUUID(),
      nonce: this.nonce,
    }
    const text = `${partOf({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } })}.${partOf({ ...own, ...claims })}`
    const key = { key: this.keys.privateKey, dsaEncoding: 'ieee-p1363' } as const
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }

  async send(ask: (dpop: string) => Promise<Response>, prove: () => string): Promise<Response> {
    const answer = await ask(prove())
    this.nonce = answer.get('DPoP-Nonce') ?? this.nonce
    return answer.body.error === 'use_dpop_nonce' ? ask(prove()) : answer
  }

  async tokens(flow: Flow, fields: Record<string, string | undefined>): Promise<Response> {
    const ask = (DPoP: string) => flow.submit('/token', { client_id, ...fields }, undefined, { DPoP })
    return this.send(ask, () => this.proof('POST', '/token'))
  }

  async photos(flow: Flow, token: string, claims: object = {}): Promise<Response> {
    const ath = createHash('sha256').update(token).digest('base64url')
    const ask = (DPoP: string) => flow.open('/photos', undefined, { DPoP, Authorization: `DPoP ${token}` })
    return this.send(ask, () => this.proof('GET', '/photos', { ath, ...claims }))
  }
}

function set() {
  const time = new Clock()
  const store = memoryStore({ clock: time.read })
  const shared = { store, clock: time.read, plugIns: [proofOfPossession] }
  const { flow } = application({ ...shared, clients })
  const guard = createBearerGuard({ ...shared, issuer, guards: { cors: true } })
  const app = express().get('/photos', guard('photos:read'), (request, response) => {
    response.json(request.oauth)
  })
  return { flow, resources: new Flow(app), time, prover: new Prover(time.read), thief: new Prover(time.read) }
}

const redeem = async (flow: Flow, prover: Prover) =>
  prover.tokens(flow, redemption(photoBook, await flow.approve(photoBook)))

test('the token endpoint asks for a nonce, and binds the access token to the key', async () => {
  const { flow, resources, prover, thief } = set()
  const code = await flow.approve(photoBook)
  const DPoP = prover.proof('POST', '/token')
  const asked = await flow.submit('/token', { client_id, ...redemption(photoBook, code) }, undefined, {
    DPoP,
    Origin: 'https://app.example',
  })
  expect([asked.status, asked.body.error]).toEqual([400, 'use_dpop_nonce'])
  expect(asked.get('Access-Control-Expose-Headers')).toContain('DPoP-Nonce')
  const { body, headers } = await prover.tokens(flow, redemption(photoBook, code))
  expect([body.token_type, typeof headers['dpop-nonce']]).toEqual(['DPoP', 'string'])
  const introspected = await flow.introspect(report, body.access_token)
  expect(introspected.body).toMatchObject({ token_type: 'DPoP', cnf: { jkt: thumbprintOf(prover.jwk) } })
  for (const parties of [flow, resources]) {
    expect((await prover.photos(parties, body.access_token)).body).toMatchObject({ subject: 'alice' })
    expect((await thief.photos(parties, body.access_token)).status).toBe(401)
    expect((await parties.photos(body.access_token)).status).toBe(401)
  }
})

test('a guard refuses with a nonce, answers with one, and lets no proof pass twice', async () => {
  const { flow, resources, prover } = set()
  const { body } = await redeem(flow, prover)
  const ath = createHash('sha256').update(body.access_token).digest('base64url')
  const Authorization = `DPoP ${body.access_token}`
  const call = (DPoP: string) => resources.open('/photos', undefined, { DPoP, Authorization, Origin: issuer })
  const asked = await call(prover.proof('GET', '/photos', { ath }))
  expect(asked.body.error).toBe('use_dpop_nonce')
  expect(asked.get('WWW-Authenticate')).toContain('DPoP realm="oauth", error="use_dpop_nonce"')
  expect(asked.get('WWW-Authenticate')).toContain('algs="ES256"')
  expect(asked.get('Access-Control-Expose-Headers')).toContain('DPoP-Nonce')
  prover.nonce = asked.get('DPoP-Nonce')
  const proof = prover.proof('GET', '/photos', { ath })
  const passed = await call(proof)
  expect([passed.status, typeof passed.get('DPoP-Nonce')]).toEqual([200, 'string'])
  expect((await call(proof)).status).toBe(401)
  for (const wrong of [{ htm: 'POST' }, { htu: `${issuer}/print` }, { iat: 0 }, { ath: 'x' }])
    expect((await prover.photos(resources, body.access_token, wrong)).body.error).toBe('invalid_dpop_proof')
})

test('the refresh token of a public client is bound to the key, in the grace too', async () => {
  const { flow, prover, thief, resources } = set()
  const refresh_token = (await redeem(flow, prover)).body.refresh_token
  const refresh = { grant_type: 'refresh_token', refresh_token }
  expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
  const plain = await flow.submit('/token', { client_id, ...refresh })
  expect(plain.body.error).toBe('invalid_grant')
  const first = (await prover.tokens(flow, refresh)).body
  expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
  const again = (await prover.tokens(flow, refresh)).body
  expect([again.token_type, again.access_token]).toEqual(['DPoP', first.access_token])
  expect((await prover.photos(resources, again.access_token)).status).toBe(200)
})

test('a nonce ends, and the server gives the next one with each answer', async () => {
  const { flow, prover, time } = set()
  const { body } = await redeem(flow, prover)
  time.advance(180)
  const stale = prover.nonce
  const refreshed = await prover.tokens(flow, {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
  })
  expect(refreshed.status).toBe(200)
  expect(prover.nonce).not.toBe(stale)
})
