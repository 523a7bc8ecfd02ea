import { generateKeyPairSync } from 'node:crypto'
import express from 'express'
import { createBearerGuard, createJwtBearerGuard, memoryStore } from 'express-authorization-server'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { Flow } from '../support/flows/flow'
import { signedAccessTokens, signerWith } from './signed-access-tokens'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoPrint, report].map(({ registration }) => registration)
const issuer = 'http://localhost'

function set() {
  const signer = { isGone: false }
  const sign = signerWith(privateKey)
  const plugIn = signedAccessTokens(publicKey, async (text) => {
    if (signer.isGone) throw new Error('The signer is gone.')
    return sign(text)
  })
  const time = new Clock()
  const clock = time.read
  const store = memoryStore({ clock })
  const { flow } = application({ clients, store, clock, plugIns: [plugIn] })
  const guard = createBearerGuard({ issuer, store, clock, plugIns: [signedAccessTokens(publicKey)] })
  const offline = createJwtBearerGuard({
    issuer,
    audience: issuer,
    clock,
    keys: { keys: [publicKey.export({ format: 'jwk' })] },
  })
  const app = express()
  app.get('/photos', guard('photos:read'), (request, response) => void response.json(request.oauth))
  app.get('/offline', offline('photos:read'), (request, response) => void response.json(request.oauth))
  return { flow, resources: new Flow(app), signer, time }
}

const payloadOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

test('a signed access token passes guards, also one that knows the key alone, and introspection knows it', async () => {
  const { flow, resources } = set()
  const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
  expect(payloadOf(body.access_token)).toMatchObject({ iss: issuer, sub: 'alice', client_id: 'photo-print' })
  for (const parties of [flow, resources])
    expect((await parties.photos(body.access_token)).body).toMatchObject({ subject: 'alice' })
  const offline = await resources.open('/offline', undefined, {
    Authorization: `Bearer ${body.access_token}`,
  })
  expect(offline.body).toMatchObject({ subject: 'alice', clientId: 'photo-print' })
  expect((await flow.introspect(report, body.access_token)).body).toMatchObject({
    active: true,
    sub: 'alice',
  })
})

test('a revocation ends it at every guard with the store', async () => {
  const { flow, resources } = set()
  const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
  await flow.revoke(photoPrint, body.access_token)
  for (const parties of [flow, resources]) expect((await parties.photos(body.access_token)).status).toBe(401)
  expect((await flow.introspect(report, body.access_token)).body).toEqual({ active: false })
})

test('a refresh that arrives twice gets a token with the same claims', async () => {
  const { flow, resources, time } = set()
  const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
  const first = (await flow.refresh(photoPrint, body.refresh_token)).body
  time.advance(5)
  const again = (await flow.refresh(photoPrint, body.refresh_token)).body
  expect(payloadOf(again.access_token)).toEqual(payloadOf(first.access_token))
  expect(again.refresh_token).toBe(first.refresh_token)
  expect((await resources.photos(again.access_token)).status).toBe(200)
})

test('a signer that fails spends nothing', async () => {
  const { flow, resources, signer } = set()
  const code = await flow.approve(photoPrint)
  signer.isGone = true
  expect((await flow.redeem(photoPrint, code)).status).toBe(500)
  signer.isGone = false
  const { body } = await flow.redeem(photoPrint, code)
  signer.isGone = true
  expect((await flow.refresh(photoPrint, body.refresh_token)).status).toBe(500)
  signer.isGone = false
  const next = (await flow.refresh(photoPrint, body.refresh_token)).body
  expect((await resources.photos(next.access_token)).status).toBe(200)
})
