export { mcp, type McpOptions, type McpServerOptions } from '../config/mcp'
