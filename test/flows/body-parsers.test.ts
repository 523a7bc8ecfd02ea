import type { Mount } from '../support/flows/application'
import { mountAll } from '../support/flows/application'
import { bodyParsers } from '../support/flows/body-parsers'
import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

const places = bodyParsers.flatMap(([name, handlers]) => [
  { name: `${name} before it`, before: handlers, behind: [] },
  { name: `${name} behind it`, before: [], behind: handlers },
])

describeOnStores('The main way, all by POST,', (stage) => {
  test.each(places)('leads on with $name', async ({ before, behind }) => {
    const mount: Mount = (app, oauth) => {
      for (const handler of before) app.use(handler)
      mountAll(app, oauth)
      for (const handler of behind) app.use(handler)
    }
    const { flow } = stage({}, { mount })
    const state = 'a b+c%20&=#€'
    const page = await flow.submit('/authorize', { ...authorizationRequest(photoBook), state }, 'alice')
    const approval = await flow.decide(page, 'approve', 'alice')
    expect(redirectionOf(approval).parameters['state']).toBe(state)
    const { refreshToken } = tokensOf(await flow.redeem(photoBook, codeOf(approval)))
    const { accessToken } = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})
