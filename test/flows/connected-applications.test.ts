import type { Response } from 'supertest'
import { photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { outcomeOf } from '../support/flows/outcome'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'

const path = '/authorizations'
const day = 24 * 3600

/** The names of the applications of a page, as a reader sees them. */
const namesIn = ({ text }: Response) =>
  [...text.matchAll(/<h2><bdi class="name">([^<]*)/g)].map(([, name]) => name)

describeOnStores('The page of connected applications', (stage) => {
  function open(...[options]: Parameters<SetStage>) {
    const clients = [photoPrint, photoBook, photoFrame].map(({ registration }) => registration)
    const set = stage({ authorizations: {}, clients, ...options })
    const { flow } = set
    const list = (owner = 'alice', query = '') => flow.open(path + query, owner)
    const ask = (clientId: string, owner = 'alice') =>
      list(owner, `?${new URLSearchParams({ remove: clientId }).toString()}`)
    const press = (page: Response, owner?: string) => {
      const { action, fields } = consentFormOf(page, path)
      return flow.submit(action, fields, owner)
    }
    return { ...set, list, ask, press }
  }

  test('lists each client of the owner once, with every permission and the days', async () => {
    const { flow, list, clock } = open()
    await flow.tokens(photoPrint, { scope: 'photos:read' })
    clock.advance(3 * day)
    await flow.tokens(photoPrint, { scope: 'photos:print' })
    await flow.tokens(photoBook, { scope: 'photos:read' })
    await flow.tokens(photoFrame, {}, 'bob')
    const page = await list()
    expect(page.status).toBe(200)
    expect(namesIn(page)).toEqual(['Photo Book', 'Photo Print'])
    expect(page.text.match(/<code>[^<]*/g)).toEqual([
      '<code>photos:read',
      '<code>photos:read',
      '<code>photos:print',
    ])
    const date = (seconds: number) => new Date(seconds).toISOString().slice(0, 10)
    const [today, before] = [date(clock.read()), date(clock.read() - 3 * day * 1000)]
    expect(page.text.match(/(?<=datetime=")[^"]*/g)).toEqual([today, today, before, today])
  })

  test('asks before a removal, removes everything of the client at once, and says so', async () => {
    const { flow, list, ask, press } = open()
    const both = [await flow.tokens(photoPrint), await flow.tokens(photoPrint, { scope: 'photos:read' })]
    const other = await flow.tokens(photoBook)
    const question = await ask('photo-print')
    expect(question.text).toContain('<h1>Remove the access of <bdi>Photo Print</bdi>?</h1>')
    expect((await flow.photos(other.accessToken)).status).toBe(200)
    const done = await press(question, 'alice')
    expect([done.status, done.get('Location')]).toEqual([303, `${path}?removed=photo-print`])
    for (const { accessToken } of both) expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.photos(other.accessToken)).status).toBe(200)
    const after = await flow.open(String(done.get('Location')), 'alice')
    expect(after.text).toContain('The access of <bdi>Photo Print</bdi> is removed.')
    expect(namesIn(after)).toEqual(['Photo Book'])
    expect(namesIn(await list())).toEqual(['Photo Book'])
  })

  test('needs a login, which returns to the page', async () => {
    const response = await open().flow.open(path)
    expect(outcomeOf(response)).toBe('login')
    expect(response.get('Location')).toContain(encodeURIComponent(`${path}?`))
  })
})
