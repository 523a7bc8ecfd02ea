import { encoded } from '../../../support/saml/assertion'
import { forgeries, genuine } from '../../../support/saml/forgeries'
import { counter } from '../../../support/saml/grant'
import { refusalOf } from '../../../support/rooms/refused'

describe.each(forgeries)('%s', (_, reason, assertion) => {
  test(`is refused (${reason}), and leaves the genuine assertion its use`, async () => {
    const { present, seen } = counter()
    expect(await refusalOf(present(assertion))).toEqual({ code: 'invalid_grant', reason })
    expect(seen).toEqual([])
    await expect(present(encoded(genuine))).resolves.toMatchObject({ grant: { subject: 'alice' } })
  })
})
