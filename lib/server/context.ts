import type { ServerSettings } from '../config/settings'
import type { Edge } from '../http/edge'

export interface ServerContext extends Edge {
  readonly settings: ServerSettings
}
