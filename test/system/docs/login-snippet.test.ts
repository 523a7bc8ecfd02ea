import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { transformSync } from 'esbuild'
import express, { type Express, type Request } from 'express'
import session from 'express-session'
import passport from 'passport'
import request from 'supertest'

const guide = readFileSync(join(__dirname, '../../../docs/guides/add-to-your-application.md'), 'utf8')
const snippets = Array.from(guide.matchAll(/^```ts\n(.*?)^```$/gms), ([, text = '']) => text)

class Local extends passport.Strategy {
  override readonly name = 'local'
  override authenticate({ body }: Request): void {
    if (body.password === 'right') this.success({ id: 'u' })
    else this.fail(401)
  }
}

/** A host with the login of the guide. */
function host(): Express {
  const own = new passport.Passport()
  own.use(new Local())
  own.serializeUser((_user, done) => done(null, 'u'))
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false }))
  app.use(own.initialize(), express.urlencoded({ extended: true }))
  const snippet = snippets.find((text) => text.includes("passport.authenticate('local'")) ?? ''
  const { code } = transformSync(snippet, { loader: 'ts', format: 'cjs' })
  runInNewContext(code, { app, passport: own, issuer: 'https://photos.example', URL, URLSearchParams })
  return app
}

const logIn = (password: string, returnTo: string | readonly string[]) =>
  request(host()).post('/login').type('form').send({ password, return_to: returnTo })

const returnTo = '/authorize?client_id=a&state=a%20b%26c'

test('the login of the guide sends the user back', async () => {
  const { status, headers } = await logIn('right', returnTo)
  expect([status, headers['location']]).toEqual([303, `https://photos.example${returnTo}`])
})

test('the login of the guide keeps the way back over a wrong password', async () => {
  const { headers } = await logIn('wrong', returnTo)
  const again = new URL(String(headers['location']), 'https://photos.example')
  expect(again.pathname).toBe('/login')
  const kept = again.searchParams.get('return_to') ?? ''
  expect((await logIn('right', kept)).headers['location']).toBe(`https://photos.example${returnTo}`)
})

test.each(['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:x', ''])(
  'the login of the guide leads to no other site by %j',
  async (elsewhere) => {
    const { headers } = await logIn('right', elsewhere)
    expect(headers['location']).toMatch(/^(?:https:\/\/photos\.example\/?|\/)$/)
    const { headers: refused } = await logIn('wrong', elsewhere)
    expect(refused['location']).not.toContain('evil')
  },
)
