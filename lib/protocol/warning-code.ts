/** The codes of all warnings that the suite gives. `docs/warnings.md` explains each of them. */
export const warningCodes = [
  'EAS_COUNTERS_IN_MEMORY',
  'EAS_EVENT_LISTENER',
  'EAS_FAILURE',
  'EAS_FORM_ACTION',
  'EAS_ISSUER_HOST',
  'EAS_MOUNTED_TWICE',
  'EAS_MOUNT_PATH',
  'EAS_NO_CLIENT_AUTHENTICATION',
  'EAS_OPENER_POLICY',
  'EAS_PLAIN_SERVER',
  'EAS_PLUG_IN_NOT_READY',
  'EAS_RATE_LIMIT_STORE',
  'EAS_REDIS_CLOCK',
  'EAS_REDIS_CLUSTER',
  'EAS_REDIS_EVICTION',
  'EAS_REDIS_REPLICA',
  'EAS_REDIS_RESEND',
  'EAS_REDIS_TRACKING',
  'EAS_REDIS_VERSION',
  'EAS_REFUSED',
  'EAS_SHARED_STORE',
  'EAS_SKIP_CONSENT',
  'EAS_STORE_UNREACHABLE',
  'EAS_TLS_REQUIRED',
  'EAS_TRUST_PROXY',
] as const

/** The code of a warning of the suite. */
export type WarningCode = (typeof warningCodes)[number]
