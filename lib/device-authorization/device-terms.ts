import type { RenderView } from '../doors/page-endpoint'
import type { Limit } from '../limits/limit'
import type { DeviceView } from './device-view'
import type { GuessLimits } from './guesses'
import type { DeviceKey } from './user-code'

export interface DeviceTerms {
  readonly key: DeviceKey
  readonly lifetime: number
  readonly interval: number
  readonly guesses: GuessLimits
  readonly requests: Limit | undefined
  readonly page: RenderView<DeviceView> | undefined
  readonly endpointPath: string
  readonly pagePath: string
}
