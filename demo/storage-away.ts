import type { ErrorRequestHandler, RequestHandler } from 'express'

/** What needs a session is answered with this page while there can be none: express-session then goes on without. */
export function needsSession(page: string): RequestHandler {
  return (request, response, next) => {
    // Its types know no request without a session.
    const session: unknown = request.session
    if (session !== undefined) return next()
    return response.status(503).set('Retry-After', '5').send(page)
  }
}

/** Whatever else went wrong: the page for the browser, the error for the terminal. */
export function troublePage(page: string): ErrorRequestHandler {
  return (error, _request, response, next) => {
    console.error(error)
    if (response.headersSent) return next(error)
    response.status(503).set('Retry-After', '5').send(page)
  }
}
