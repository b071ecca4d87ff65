// The default theme without its web font: the site loads nothing from elsewhere and uses the fonts of the machine.
import theme from 'vitepress/theme-without-fonts'
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has no value
import './style.css'

export default theme
