import express from 'express'
import request from 'supertest'
import { formTargetsOf, sendText } from '../../lib/http/response'

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
