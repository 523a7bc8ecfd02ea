import express, { type Express } from 'express'

/** What every server has: Express, and a page that nobody guards. */
export function createApp(): Express {
  const app = express()
  app.disable('x-powered-by')
  app.get('/open', (_request, response) => {
    response.json({ photos: [] })
  })
  return app
}
