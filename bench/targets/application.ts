import { RedisStore } from 'connect-redis'
import { urlencoded, json } from 'express'
import session from 'express-session'
import helmet from 'helmet'
import { join } from 'node:path'
import { createApp } from '../app'
import { owner } from '../cast'
import { connectToRedis } from '../redis-of-target'
import { serveWith } from '../serve-with'

declare module 'express-session' {
  interface SessionData {
    album: string
  }
}

// An application as many are, without any OAuth: headers by helmet, bodies parsed, a session in Redis, pages of a template.
const photos = Array.from({ length: 10 }, (_none, at) => ({
  title: `Photo ${at}`,
  place: 'Ålesund & around',
}))
const app = createApp()
app.set('views', join(__dirname, '../../views'))
app.set('view engine', 'ejs')
app.use(helmet())
app.use(json(), urlencoded({ extended: false }))
app.use(
  session({
    store: new RedisStore({ client: connectToRedis(), prefix: 'session:' }),
    secret: 'bench',
    resave: false,
    saveUninitialized: false,
  }),
)
app.get('/album', (request, response) => {
  response.render('album', { owner, album: request.session.album ?? '', photos })
})
app.post('/album', (request, response) => {
  request.session.album = String(request.body.album)
  response.redirect(303, '/album')
})
serveWith(app)
