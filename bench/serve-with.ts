import { createServer } from 'express-authorization-server'
import type { Express } from 'express'
import { serve, serveOn } from './target'

/** Serves an app as the harness asks for it: on Node's own server, or on the suite's `createServer`. */
export function serveWith(app: Express): void {
  if (process.env['BENCH_SERVER'] === 'fast') serveOn(createServer(app))
  else serve(app)
}
