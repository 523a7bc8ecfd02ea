import express, { type RequestHandler } from 'express'

const form = 'application/x-www-form-urlencoded'

/** What hosts put before or behind the suite. */
export const bodyParsers: readonly (readonly [string, readonly RequestHandler[]])[] = [
  ['express.json()', [express.json()]],
  ['express.urlencoded({ extended: true })', [express.urlencoded({ extended: true })]],
  ['express.urlencoded({ extended: false })', [express.urlencoded({ extended: false })]],
  ['express.json() and express.urlencoded()', [express.json(), express.urlencoded({ extended: true })]],
  ['express.text() of forms', [express.text({ type: form })]],
  ['express.raw() of forms', [express.raw({ type: form })]],
  ['express.raw() of everything', [express.raw({ type: '*/*' })]],
  ['express.text() and express.raw() as they are', [express.text(), express.raw()]],
]
