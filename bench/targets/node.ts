import { createServer, type ServerResponse } from 'node:http'
import { randomBytes } from 'node:crypto'
import { connectToRedis } from '../redis-of-target'
import { serveOn } from '../target'

// The floor without any framework: a form read and parsed, one write or read in Redis (for a refresh both), an answer in JSON.
const redis = connectToRedis()

serveOn(
  createServer((request, response) => {
    if (request.url === '/open') return send(response, '{"photos":[]}')
    if (request.method === 'GET')
      return void redis.get('photos').then(() => send(response, '{"photos":[]}'), fail(response))
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      token(new URLSearchParams(body)).then((answer) => send(response, answer), fail(response))
    })
  }),
)

async function token(form: URLSearchParams): Promise<string> {
  const refreshToken = form.get('refresh_token')
  if (refreshToken !== null) await redis.get(`floor:${refreshToken}`)
  const [access_token, refresh_token] = [newToken(), refreshToken === null ? undefined : newToken()]
  const scope = form.get('scope') ?? undefined
  const answer = JSON.stringify({
    access_token,
    refresh_token,
    token_type: 'bearer',
    expires_in: 3600,
    scope,
  })
  await redis.set(`floor:${refresh_token ?? access_token}`, answer, 'EX', 3600)
  return answer
}

const newToken = () => randomBytes(32).toString('base64url')

function send(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text)
}

const fail = (response: ServerResponse) => () => void response.writeHead(500).end()
