"""Hoeffding trees, multi-label trees and forests."""
