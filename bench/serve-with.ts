import http from 'node:http'
import type { Express } from 'express'
import { serve, serveOn } from './target'

/** Serves an app as the harness asks for it: on Node's own server, or on the suite's `createServer`. */
export function serveWith(app: Express): void {
  if (process.env['BENCH_SERVER'] === 'fast') serveOn(temporary(app))
  else serve(app)
}

function temporary(app: any) {
  function Req(this: any, s: any) {
    ;(http.IncomingMessage as any).call(this, s)
  }
  Req.prototype = app.request
  function Res(this: any, r: any, o: any) {
    ;(http.ServerResponse as any).call(this, r, o)
  }
  Res.prototype = app.response
  return http.createServer({ IncomingMessage: Req as any, ServerResponse: Res as any }, app)
}
