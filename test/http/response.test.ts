import express from 'express'
import request from 'supertest'
import { formTargetsOf, errorPageOf, sendText } from '../../lib/http/response'
import {
  invalidClient,
  invalidScope,
  OAuthError,
  serverError,
  temporarilyUnavailable,
  tooManyForShare,
} from '../../lib/protocol/oauth-error'

describe('formTargetsOf', () => {
  it.each([
    ['https://printer.example/callback', ['https:']],
    ['http://[::1]:8080/cb', ['https:', 'http:']],
    ['com.example.app:/cb', ['https:', 'com.example.app:']],
    ['COM.Example:/cb', ['https:', 'com.example:']],
  ])('of %s are schemes: %j', (redirectUri, targets) => {
    expect(formTargetsOf(redirectUri)).toEqual(targets)
  })
})

describe('errorPageOf', () => {
  const refusal = { status: 400, headers: {}, isTrouble: false }
  it.each([
    ['a refusal', invalidScope('scope_missing', 'x'), refusal],
    ['a refusal of a client: a page has no challenge', invalidClient('client_unknown', 'x'), refusal],
    ['a fault of the server', serverError('unexpected', 'x'), { status: 500, headers: {}, isTrouble: true }],
    [
      'a store in trouble',
      temporarilyUnavailable('store_unavailable', 'x'),
      { status: 503, headers: { 'Retry-After': '1' }, isTrouble: true },
    ],
    [
      'a share that is used up',
      tooManyForShare('owner_share_full', 'x', 60),
      { status: 429, headers: { 'Retry-After': '60' }, isTrouble: true },
    ],
    [
      'an error with a status of its own',
      new OAuthError('access_denied', 'own_reason', 'x', { status: 403, headers: { 'X-Why': 'own' } }),
      { status: 403, headers: { 'X-Why': 'own' }, isTrouble: false },
    ],
  ])('says of %s what a browser and a person may do', (_what, error, expected) => {
    expect(errorPageOf(error)).toEqual(expected)
  })
})

describe('sendText', () => {
  it.each(['', 'plain', 'a=é', 'ÿ', '€', '🔑 ä', '\uFFFD'.repeat(3000)])(
    'sends %j as it is, in UTF-8',
    async (text) => {
      const app = express().get('/', (_request, response) => {
        sendText(response, 201, text, { 'Content-Type': 'text/plain; charset=utf-8' })
      })
      const answer = await request(app).get('/')
      expect(answer.status).toBe(201)
      expect(answer.text).toBe(text)
      expect(answer.headers).toMatchObject({
        'content-length': String(Buffer.byteLength(text)),
        'content-type': 'text/plain; charset=utf-8',
      })
    },
  )
})
