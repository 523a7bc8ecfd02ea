import type * as Suite from 'express-authorization-server'
import type { Express } from 'express'
import { serve, serveOn } from './target'

/** Serves an app as the harness asks for it: on Node's own server, or on the suite's `createServer`. */
export function serveWith(app: Express): void {
  if (process.env['BENCH_SERVER'] !== 'fast') return serve(app)
  // Loaded here, because a floor must not pay for loading the suite.
  const { createServer }: typeof Suite = require('express-authorization-server')
  serveOn(createServer(app))
}
