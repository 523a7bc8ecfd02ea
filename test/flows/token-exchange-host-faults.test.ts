import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'
import {
  anyOwner,
  exchangeOf,
  exchangingUnchecked,
  service,
  tokenTypeOf,
} from '../support/flows/token-exchange'

describeOnStores('Token exchange answers as a fault of this side', (stage) => {
  test('every policy and every verification that breaks its word, without a detail [exchange-11]', async () => {
    const answers = [
      null,
      false,
      'alice',
      {},
      { subject: '' },
      { subject: 7 },
      { subject: 'alice', scope: 'photos:read' },
      { subject: 'alice', scope: [] },
      { subject: 'alice', scope: ['photos:read photos:print'] },
      { subject: 'alice', audience: 'a' },
      { subject: 'alice', audience: [''] },
      { subject: 'alice', expiresAt: 9e9 },
    ]
    for (const answer of answers) {
      const set = stage(exchangingUnchecked({ policy: () => answer }))
      const { accessToken } = await set.flow.tokens(photoBook)
      expect(refusalOf(await set.flow.request(service, exchangeOf(accessToken)))).toBe('500 server_error')
    }
    const claims = [
      {},
      { sub: 'alice' },
      { sub: 'alice', exp: '9999999999' },
      { sub: '', exp: 9e9 },
      { sub: 'alice', exp: 9e9, scope: 'a  b' },
      { sub: 'alice', exp: 9e9, act: {} },
      { sub: 'alice', exp: 9e9, act: 'desk' },
    ]
    for (const claim of claims) {
      const tokenTypes = { [tokenTypeOf('jwt')]: () => claim }
      const set = stage(exchangingUnchecked({ policy: anyOwner, tokenTypes }))
      const jwt = exchangeOf('x', { subject_token_type: tokenTypeOf('jwt') })
      expect(refusalOf(await set.flow.request(service, jwt))).toBe('500 server_error')
    }
  })
})
