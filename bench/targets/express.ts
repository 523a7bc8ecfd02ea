import { randomBytes } from 'node:crypto'
import express from 'express'
import { createApp } from '../app'
import { connectToRedis } from '../redis-of-target'
import { serveWith } from '../serve-with'

// The floor with Express as its documentation shows it: `express.urlencoded`, one write or read in Redis (for a refresh both), `res.json`.
const redis = connectToRedis()
const app = createApp()

app.get('/photos', async (_request, response) => {
  await redis.get('photos')
  response.json({ photos: [] })
})

app.post('/token', express.urlencoded({ extended: false }), async (request, response) => {
  const { refresh_token: refreshToken, scope } = request.body
  if (refreshToken !== undefined) await redis.get(`floor:${refreshToken}`)
  const [access_token, refresh_token] = [newToken(), refreshToken === undefined ? undefined : newToken()]
  const answer = { access_token, refresh_token, token_type: 'bearer', expires_in: 3600, scope }
  await redis.set(`floor:${refresh_token ?? access_token}`, JSON.stringify(answer), 'EX', 3600)
  response.json(answer)
})

const newToken = () => randomBytes(32).toString('base64url')

serveWith(app)
