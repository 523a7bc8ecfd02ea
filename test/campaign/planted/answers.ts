import { setTimeout } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { registeredPlaces } from '../parties'

const kept: Buffer[] = []

/** A middleware before the suite that makes this mistake. */
export const wrongAnswers = {
  'repeated parameter': (request, response, next) => {
    const { searchParams } = new URL(request.url, 'http://localhost')
    if ([...searchParams.keys()].length === new Set(searchParams.keys()).size) return next()
    response.status(500).end()
  },
  echo: (request, response, next) => {
    const state = new URL(request.url, 'http://localhost').searchParams.get('state')
    if (state === null || state === 'af0ifjsldkj') return next()
    response.status(400).set('Cache-Control', 'no-store').end(`The state ${state} is not good.`)
  },
  hang: (request, _response, next) => {
    if (request.method === 'POST' && request.headers['content-length'] === '0') return
    next()
  },
  rejection: (request, _response, next) => {
    if (request.headers['content-type']?.startsWith('text/') === true)
      void setTimeout(1).then(() => Promise.reject(new Error('A planted rejection.')))
    next()
  },
  leak: (_request, _response, next) => {
    kept.push(Buffer.alloc(8000))
    next()
  },
  'open redirect': (request, response, next) => {
    const uri = new URL(request.url, 'http://localhost').searchParams.get('redirect_uri')
    if (uri === null || registeredPlaces.has(uri)) return next()
    response.writeHead(303, { Location: encodeURI(`https://elsewhere.example/${uri.slice(0, 20)}`) }).end()
  },
  'open token endpoint': (request, response, next) => {
    if (request.path !== '/token') return next()
    response.set('Cache-Control', 'no-store').json({ access_token: 'for everybody', refresh_token: 'r' })
  },
} satisfies Record<string, RequestHandler>

export type WrongAnswer = keyof typeof wrongAnswers
