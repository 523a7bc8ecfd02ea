import { setTimeout } from 'node:timers/promises'
import type { RequestHandler } from 'express'

/** What a judge of any worth notices. */
export const faults = [
  'repeated parameter',
  'echo',
  'hang',
  'rejection',
  'leak',
  'open redirect',
  'cached',
] as const
export type Fault = (typeof faults)[number]

export const isFault = (value: unknown): value is Fault => faults.some((fault) => fault === value)

const kept: string[] = []

/** A middleware before the suite that makes this mistake. */
export const planted: Readonly<Record<Fault, RequestHandler>> = {
  'repeated parameter': (request, response, next) => {
    const { searchParams } = new URL(request.url, 'http://localhost')
    if ([...searchParams.keys()].length === new Set(searchParams.keys()).size) return next()
    response.status(500).end()
  },
  echo: (request, response, next) => {
    const state = new URL(request.url, 'http://localhost').searchParams.get('state')
    const end = response.end.bind(response)
    if (state === null || state === 'af0ifjsldkj') return next()
    response.status(400).set('Cache-Control', 'no-store')
    end(`The state ${state} is not good.`)
  },
  hang: (request, _response, next) => {
    if (request.method === 'POST' && request.headers['content-length'] === '0') return
    next()
  },
  rejection: (request, _response, next) => {
    if (request.headers['content-type']?.startsWith('text/') === true)
      void setTimeout(1).then(() => Promise.reject(new Error('Nobody waits for this.')))
    next()
  },
  leak: (_request, _response, next) => {
    kept.push(`${kept.length}`.repeat(2000).split('').reverse().join(''))
    next()
  },
  'open redirect': (request, response, next) => {
    const uri = new URL(request.url, 'http://localhost').searchParams.get('redirect_uri')
    if (uri === null || uri === 'https://book.example/callback') return next()
    response.writeHead(303, { Location: encodeURI(`https://elsewhere.example/${uri.slice(0, 20)}`) }).end()
  },
  cached: (request, response, next) => {
    if (request.method === 'POST') return next()
    if (request.path !== '/token') return next()
    response.status(405).json({ error: 'invalid_request' })
  },
}
