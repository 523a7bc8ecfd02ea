import express from 'express'
import request from 'supertest'
import { application } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'

const asks = (app: express.Express) =>
  request(app)
    .post('/')
    .auth(nightlyReport.registration.client_id, nightlyReport.secret)
    .type('form')
    .send({ grant_type: 'client_credentials', scope: 'photos:read' })

describe('of two servers in one application', () => {
  it('one issues nothing to a client that only the other one has authenticated', async () => {
    const [{ oauth: one }, { oauth: other }] = [application(), application()]
    const app = express()
    app.post('/', one.clientAuthentication(), ...other.token())
    const { status, body } = await asks(app)
    expect({ status, body }).toEqual({
      status: 500,
      body: expect.objectContaining({ error: 'server_error' }),
    })
  })

  it('each issues to a client that both have authenticated', async () => {
    const [{ oauth: one }, { oauth: other }] = [application(), application()]
    const app = express()
    app.post('/', one.clientAuthentication(), other.clientAuthentication(), ...other.token())
    expect((await asks(app)).status).toBe(200)
  })
})
