import { urlencoded } from 'express'
import { createApp } from '../app'
import { client, owner, scope } from '../cast'
import { serveWith } from '../serve-with'
import { port } from '../target'

// What it costs to ask over HTTP at each request, where neither side checks anything.
const app = createApp()
const form = urlencoded({ extended: false })
const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
const headers = { Authorization: `Basic ${credentials}` }

app.post('/introspect', form, (_request, response) => {
  response.json({ active: true, sub: owner, client_id: client.id, scope, token_type: 'Bearer' })
})

app.get('/photos', async (request, response) => {
  const [, token = ''] = /^Bearer (.+)$/.exec(request.get('authorization') ?? '') ?? []
  const body = new URLSearchParams({ token })
  const answer = await fetch(`http://127.0.0.1:${port}/introspect`, { method: 'POST', headers, body })
  const { active }: { readonly active?: unknown } = JSON.parse(await answer.text())
  response.status(active === true ? 200 : 401).json({ photos: [] })
})

serveWith(app)
