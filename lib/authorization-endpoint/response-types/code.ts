import { approveWithCode } from '../../authorization/answer'
import type { ResponseType } from '../response-type'

/** RFC 6749 4.1.2: the answer is an authorization code in the query. */
export const codeResponseType: ResponseType = {
  name: 'code',
  grantTypes: ['authorization_code'],
  mode: 'query',
  approve(proposed, context) {
    const { authorization, code } = approveWithCode(proposed, context)
    return { authorization, parameters: { code } }
  },
}
