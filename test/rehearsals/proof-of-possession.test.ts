import { createHash } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import express from 'express'
import { createBearerGuard, memoryStore } from 'express-authorization-server'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { Flow, redemption } from '../support/flows/flow'
import { Prover } from '../support/flows/prover'
import { proofOfPossession } from './proof-of-possession'

const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoBook, report].map(({ registration }) => registration)
const { client_id } = photoBook.registration

async function set() {
  const time = new Clock()
  const store = memoryStore({ clock: time.read })
  const shared = { store, clock: time.read, plugIns: [proofOfPossession] }
  const { flow } = application({ ...shared, clients })
  const guard = createBearerGuard({ ...shared, issuer: 'http://localhost', guards: { cors: true } })
  const app = express().get('/photos', guard('photos:read'), (request, response) => {
    response.json(request.oauth)
  })
  const [prover, thief] = [new Prover(time.read), new Prover(time.read)]
  const redeem = redemption(photoBook, await flow.approve(photoBook))
  return { flow, resources: new Flow(app), time, prover, thief, redeem }
}

test('the token endpoint asks for a nonce, and binds the access token to the key', async () => {
  const { flow, resources, prover, thief, redeem } = await set()
  const headers = { DPoP: prover.proof('POST', '/token'), Origin: 'https://app.example' }
  const asked = await flow.submit('/token', { client_id, ...redeem }, undefined, headers)
  expect([asked.status, asked.body.error]).toEqual([400, 'use_dpop_nonce'])
  expect(asked.get('Access-Control-Expose-Headers')).toContain('DPoP-Nonce')
  const { body, headers: answered } = await prover.tokens(flow, redeem)
  expect([body.token_type, typeof answered['dpop-nonce']]).toEqual(['DPoP', 'string'])
  const jkt = await calculateJwkThumbprint(prover.jwk)
  expect((await flow.introspect(report, body.access_token)).body).toMatchObject({ cnf: { jkt } })
  for (const parties of [flow, resources]) {
    expect((await prover.photos(parties, body.access_token)).body).toMatchObject({ subject: 'alice' })
    expect((await thief.photos(parties, body.access_token)).status).toBe(401)
    expect((await parties.photos(body.access_token)).status).toBe(401)
  }
})

test('a guard refuses with a nonce, answers with one, and lets no proof pass twice', async () => {
  const { flow, resources, prover, redeem } = await set()
  const { access_token } = (await prover.tokens(flow, redeem)).body
  const ath = createHash('sha256').update(access_token).digest('base64url')
  const headers = { Authorization: `DPoP ${access_token}`, Origin: 'https://app.example' }
  const call = (DPoP: string) => resources.open('/photos', undefined, { ...headers, DPoP })
  prover.nonce = undefined
  const asked = await call(prover.proof('GET', '/photos', { ath }))
  expect(asked.get('WWW-Authenticate')).toMatch(/DPoP realm="oauth", error="use_dpop_nonce".*algs="ES256"/)
  expect(asked.get('Access-Control-Expose-Headers')).toContain('DPoP-Nonce')
  prover.nonce = asked.get('DPoP-Nonce')
  const proof = prover.proof('GET', '/photos', { ath })
  const passed = await call(proof)
  expect([passed.status, typeof passed.get('DPoP-Nonce')]).toEqual([200, 'string'])
  expect((await call(proof)).status).toBe(401)
  for (const wrong of [{ htm: 'POST' }, { htu: 'http://localhost/print' }, { iat: 0 }, { ath: 'x' }])
    expect((await prover.photos(resources, access_token, wrong)).body.error).toBe('invalid_dpop_proof')
})

test('the refresh token of a public client is bound to the key, in the grace too', async () => {
  const { flow, prover, thief, resources, redeem, time } = await set()
  const { refresh_token } = (await prover.tokens(flow, redeem)).body
  const refresh = { grant_type: 'refresh_token', refresh_token }
  expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
  expect((await flow.submit('/token', { client_id, ...refresh })).body.error).toBe('invalid_grant')
  // The nonce of the redemption has ended.
  time.advance(180)
  const first = (await prover.tokens(flow, refresh)).body
  expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
  const again = (await prover.tokens(flow, refresh)).body
  expect([again.token_type, again.access_token]).toEqual(['DPoP', first.access_token])
  expect((await prover.photos(resources, again.access_token)).status).toBe(200)
})
