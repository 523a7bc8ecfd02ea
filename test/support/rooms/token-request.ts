import type { TokenRequest } from '../../../lib/token-endpoint/grant-type'
import { memoryCounters } from '../../../lib/stores/memory-counters'
import { context } from '../authorization/issue-context'
import { clientWith } from '../authorization/client'
import { parametersOf } from './parameters'

/** A token request at noon, without parameters, which each test bends. */
export const tokenRequest: TokenRequest = {
  client: clientWith(),
  parameters: parametersOf({}),
  context: context(),
  issuer: 'https://photos.example',
  findResource: undefined,
  defaultScope: [],
  address: '192.0.2.7',
  counters: memoryCounters(),
  findAccess: async () => undefined,
}
