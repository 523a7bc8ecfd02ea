import type { RequestHandler } from 'express'

// What a token in the form would do. Every browser names the site a form was sent from; whatever sends no such header
// carries nobody's cookies.
export const sameOrigin: RequestHandler = (request, response, next) => {
  const site = request.headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin') return next()
  response.status(403).type('text').send('This form was sent from another site. Go back and try again.')
}
