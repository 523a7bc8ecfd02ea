import { grantableScope, invalidGrant, mayRefresh, type GrantType } from 'express-authorization-server'

/** Who holds which voucher, as the host's own database knows it: a digest to the subject. */
type FindHolder = (voucher: string) => Promise<string | undefined>

const lifetime = 30 * 24 * 3600

/** An extension grant (RFC 6749 4.5): a code that a person got on paper, good for tokens once. */
export function voucherGrant(findHolder: FindHolder): GrantType {
  return {
    name: 'https://photos.example/grants/voucher',
    parameters: ['voucher', 'scope'],
    async prove({ client, parameters, defaultScope, counters }) {
      const voucher = parameters.require('voucher')
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      const subject = await findHolder(voucher)
      // Spent last, so that nothing before it can waste the voucher; of parallel requests one gets true.
      if (subject === undefined || !(await counters.spend(`voucher:${voucher}`, lifetime)))
        throw invalidGrant('voucher_refused', 'The voucher is unknown or was used before.')
      return { grant: { subject, scope, refreshToken: mayRefresh(client), bindings: {} } }
    },
  }
}
